"""Measures replay.py against the standard library's doctest on the same traces, in the same run.

Prints JSON: microseconds a trace and an example for both. Traces are 64 permutations of S_5 with a
print after every 8.
Usage: python3 bench/replay/compare.py [TRACES]
"""
import json
import pathlib
import platform
import random
import struct
import sys
import time
import types

SCRIPTS = pathlib.Path(__file__).parents[2] / 'shellgame' / 'replay'


def load_replay():
    """The two files that the tool puts together."""
    module = types.ModuleType('replay')
    for name in ('session.py', 'replay.py'):
        exec((SCRIPTS / name).read_text(), module.__dict__)
    return module


def make_trace(stream, commands=64, spacing=8, names='abcde'):
    values = {name: number for number, name in enumerate(names, 1)}
    lines = ['>>> %s = %d' % pair for pair in values.items()]
    for n in range(1, commands + 1):
        sources = stream.sample(names, len(names))
        lines.append('>>> %s = %s' % (', '.join(names), ', '.join(sources)))
        values = dict(zip(names, [values[name] for name in sources]))
        if n % spacing == 0:
            name = stream.choice(names)
            lines += [">>> print('%s', %s)" % (name, name), '%s %d' % (name, values[name])]
    return '\n'.join(lines) + '\n'


def seconds(work):
    """The best of three: other work on the machine only ever adds."""
    out, best = sys.stdout, float('inf')
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        sys.stdout = out  # the replay takes it
    return best


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    replay = load_replay()
    stream = random.Random(1)
    texts = [make_trace(stream) for _ in range(count)]
    examples = sum(text.count('>>> ') for text in texts)
    replayer = replay.Replayer()
    sample = texts[:max(1, count // 20)]  # doctest is slow

    def check_with_doctest():
        for text in sample:
            assert replay.doctest_lines(text) == []

    # A batch as interpreter.cpp writes it: each source once, then numbers of sources.
    known, records, numbers = {}, [], []
    for seed, text in enumerate(texts):
        sources = [line[4:] for line in text.split('\n') if line.startswith('>>> ')]
        mine = [known.setdefault(source, len(known)) for source in sources]
        records.append(replayer.TRACE.pack(seed, 0, len(mine), 0, 0))
        numbers.append(struct.pack('<%dI' % len(mine), *mine))
    new = b''.join(struct.pack('<I', len(s)) + s.encode() for s in known)
    batch = (replayer.SOURCES.pack(1, len(known), count) + new + b''.join(records)
             + b''.join(numbers))
    ours = seconds(lambda: replayer.run(batch)) / count
    theirs = seconds(check_with_doctest) / len(sample)

    micro, per_trace = 1e6, examples / count
    print(json.dumps({
        'python': platform.python_version(),
        'traces': count,
        'examples_per_trace': per_trace,
        'replay': {'traces_per_second': round(1 / ours),
                   'us_per_trace': round(ours * micro, 1),
                   'us_per_example': round(ours * micro / per_trace, 2)},
        'doctest': {'traces_per_second': round(1 / theirs),
                    'us_per_trace': round(theirs * micro, 1),
                    'us_per_example': round(theirs * micro / per_trace, 2)},
        'doctest_over_replay': round(theirs / ours, 1),
    }, indent=2))


if __name__ == '__main__':
    main()
