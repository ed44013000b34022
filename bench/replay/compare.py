"""Measures replay.py against the standard library's doctest on the same traces, in the same run.

Prints JSON: microseconds a trace and an example for both, and for the two ways of sending a batch
that were considered. Traces are 64 permutations of S_5 with a print after every 8.
Usage: python3 bench/replay/compare.py [TRACES]
"""
import importlib.util
import json
import pathlib
import platform
import random
import sys
import time

SCRIPT = pathlib.Path(__file__).parents[2] / 'shellgame' / 'replay' / 'replay.py'


def load_replay():
    spec = importlib.util.spec_from_file_location('replay', SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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
    replayer = replay.Replayer(10)
    sample = texts[:max(1, count // 20)]  # doctest is slow

    def check_with_doctest():
        for text in sample:
            assert replay.doctest_lines(text) == []

    batch = [(seed, 0, text) for seed, text in enumerate(texts)]
    ours = seconds(lambda: replayer.run(batch, [0])) / count
    theirs = seconds(check_with_doctest) / len(sample)

    head = replay.Replayer.TRACE
    data = [text.encode() for text in texts]
    heads = b''.join([head.pack(0, 0, len(text)) for text in data])
    body = b''.join(data)

    def read_binary():
        start, read = 0, []
        for _, _, size in head.iter_unpack(heads):
            read.append(body[start:start + size].decode('utf-8', 'surrogateescape'))
            start += size
        assert read == texts

    as_json = json.dumps(texts).encode()

    def read_json():
        assert json.loads(as_json) == texts

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
        'reading_a_trace_us': {'binary': round(seconds(read_binary) / count * micro, 2),
                               'json': round(seconds(read_json) / count * micro, 2)},
    }, indent=2))


if __name__ == '__main__':
    main()
