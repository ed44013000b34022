"""Replays REPL traces in this interpreter and reports where their outputs are not what it prints.

The tool starts `python3 -ISBu -c <this file> KEEP` and talks to it in frames over the two pipes
(see interpreter.cpp for the other end). Nothing here knows how traces are made: the text is cut
into examples by doctest's rules and run as the interactive shell runs it. CPython 3.8 and later.
"""
import builtins
import io
import mmap
import os
import random
import struct
import sys
import types

CACHE_ENTRIES = 1 << 16  # a cache that grows over this is emptied
CACHE_LENGTH = 1000      # longer sources are not kept
SHOWN = 2000             # characters of a source or an output that a report shows


# ---- Cutting a text into examples -------------------------------------------------------------

class Malformed(Exception):
    """doctest refuses such a text as a whole: a prompt without its blank, a broken indentation."""

    def __init__(self, line, source, why):
        super().__init__(why)
        self.line, self.source = line, source


class Irregular(Exception):
    """A block of text that only the full rules can cut."""


def is_blank_or_comment(source):
    body = source[:-1] if source.endswith('\n') else source
    return '\n' not in body and body.lstrip(' ')[:1] in ('', '#')


def split(text):
    """The full rules: (line, source, expected output) of each example, lines counted from 1."""
    lines = text.expandtabs().split('\n')
    # The indentation that all lines share goes; lines that begin with other white space do not count.
    bodies = [line.lstrip(' ') for line in lines]
    shared = min([len(line) - len(body) for line, body in zip(lines, bodies) if body[:1].strip()],
                 default=0)
    lines = [line[shared:] for line in lines]
    examples = []
    n, end = 0, len(lines)
    while n < end:
        body = lines[n].lstrip(' ')
        if not body.startswith('>>>'):
            n += 1
            continue
        start, indent = n, len(lines[n]) - len(body)
        n += 1
        while n < end and lines[n].lstrip(' ').startswith('...'):
            n += 1
        prompts = n
        while n < end and lines[n].strip(' ') and not lines[n].lstrip(' ').startswith('>>>'):
            n += 1
        for i in range(start, prompts):
            if lines[i][indent + 3:indent + 4] not in ('', ' '):
                raise Malformed(i + 1, lines[i], 'a prompt must be followed by a blank')
        for i in range(start + 1, n):
            if not lines[i].startswith(' ' * indent + ('.' if i < prompts else '')):
                raise Malformed(i + 1, lines[i], 'the indentation must be that of the prompt')
        source = '\n'.join([line[indent + 4:] for line in lines[start:prompts]])
        if not is_blank_or_comment(source):
            want = ''.join([line[indent:] + '\n' for line in lines[prompts:n]])
            examples.append((start + 1, source if source.endswith('\n') else source + '\n', want))
    return examples


class Refused:
    """Stands where the code of a source that does not compile would be."""

    def __init__(self, error):
        self.error = error.with_traceback(None)


class Codes(dict):
    """Source -> code object; the same few commands come in thousands of traces."""

    def __missing__(self, source):
        try:
            code = compile(source, '<trace>', 'single', 0, True)
        except Exception as error:
            code = Refused(error)
        if len(source) <= CACHE_LENGTH:
            if len(self) >= CACHE_ENTRIES:
                self.clear()
            self[source] = code
        return code


class Blocks(dict):
    """The text between two "\\n>>> " -> (code, expected output), for the plain shape of a trace."""

    def __init__(self, codes):
        super().__init__()
        self.codes = codes

    def __missing__(self, block):
        lines = block.split('\n')
        n, end = 1, len(lines)
        while n < end and lines[n].startswith('...'):
            if lines[n][3:4] not in ('', ' '):
                raise Irregular
            n += 1
        source = '\n'.join([lines[0]] + [line[4:] for line in lines[1:n]])
        stop = n
        while stop < end and lines[stop].strip(' '):
            stop += 1
        if (is_blank_or_comment(source) or '>>>' in ''.join(lines[n:])
                or (n < end and lines[n].lstrip(' ').startswith('...'))):
            raise Irregular
        want = ''.join([line + '\n' for line in lines[n:stop]])
        plan = self.codes[source if source.endswith('\n') else source + '\n'], want
        if len(block) <= CACHE_LENGTH:
            if len(self) >= CACHE_ENTRIES:
                self.clear()
            self[block] = plan
        return plan


class Plan:
    """The examples of one trace; `steps` are (code, expected output) in order."""

    def __init__(self, text, blocks):
        self.text, self.examples = text, None
        try:
            if '\t' in text:
                raise Irregular
            parts = ('\n' + text).split('\n>>> ')
            if '>>>' in parts[0]:
                raise Irregular
            del parts[0]
            self.steps = list(map(blocks.__getitem__, parts))
        except Irregular:
            self.examples = split(text)
            codes = blocks.codes
            self.steps = [(codes[source], want) for _, source, want in self.examples]

    def example(self, number):
        if self.examples is None:  # only a failure asks for lines
            self.examples = split(self.text)
        return self.examples[number]


# ---- Hidden sources ---------------------------------------------------------------------------

class Hidden:
    """What a trace may read but does not show: random's state, LOAD_1.. and the module service."""

    MOST_LOADS = 1000000

    def __init__(self):
        self.loads = 0
        self.service = types.ModuleType('service')

    def prepare(self, seed, text):
        """Everything anew, as a function of the seed."""
        random.seed(seed)
        loads = 0
        if 'LOAD_' in text:
            import re
            numbers = [int(n) for n in re.findall(r'\bLOAD_([0-9]{1,9})\b', text)]
            loads = min(max(numbers, default=0), self.MOST_LOADS)
            draw = random.Random((1 << 32) + seed).random
            for n in range(1, loads + 1):
                os.environ['LOAD_%d' % n] = repr(draw())
        for n in range(loads + 1, self.loads + 1):
            os.environ.pop('LOAD_%d' % n, None)
        self.loads = loads

        source = None

        def stream():  # seeded at the first use: most traces have none
            nonlocal source
            if source is None:
                source = random.Random((2 << 32) + seed)
            return source

        def fetch():
            return stream().random()

        def start(*values):
            return tuple(stream().sample(values, k=len(values)))

        self.service.fetch, self.service.start = fetch, start
        sys.modules['service'] = self.service
        builtins.__dict__.pop('_', None)  # the value that was shown last


# ---- The first witness: this file's own replay ------------------------------------------------

def last_line(error):
    import traceback
    return traceback.format_exception_only(type(error), error)[-1]


def expects(want, message):
    """Whether the expected output is a traceback that ends in this message."""
    lines = want.split('\n')
    if lines[0].rstrip() not in ('Traceback (most recent call last):',
                                 'Traceback (innermost last):'):
        return False
    for n in range(1, len(lines)):
        if lines[n][:1].isalnum() or lines[n][:1] == '_':
            return '\n'.join(lines[n:]) == message
    return False


class Output(io.StringIO):
    __slots__ = ()

    def close(self):  # a trace that closes its output must not take ours
        pass


def replay(steps):
    """Runs the steps in fresh globals: (number of expected outputs, [(step number, got)])."""
    space = {'__name__': '__main__'}
    out = sys.stdout = Output()
    sys.displayhook = sys.__displayhook__
    shown, execute = out.getvalue, exec
    outputs, failures = 0, []
    for number, (code, want) in enumerate(steps):
        try:
            execute(code, space)
        except BaseException as error:
            out.seek(0)
            out.truncate()
            message = last_line(code.error if type(code) is Refused else error)
            if want:
                outputs += 1
            if not (want and expects(want, message)):
                failures.append((number, message))
            continue
        got = shown()
        if got:
            out.seek(0)
            out.truncate()
            if got[-1] != '\n':
                got += '\n'
        if want:
            outputs += 1
        if got != want:
            failures.append((number, got))
    return outputs, failures


# ---- The second witness: the standard library's doctest ---------------------------------------

def doctest_lines(text):
    """The lines of the examples that doctest fails, or None if it refuses the text."""
    import doctest

    class Runner(doctest.DocTestRunner):
        def report_failure(self, out, test, example, got):
            lines.append(example.lineno + 1)

        def report_unexpected_exception(self, out, test, example, exc_info):
            lines.append(example.lineno + 1)

    lines = []
    try:
        test = doctest.DocTestParser().get_doctest(text, {'__name__': '__main__'}, 'trace', None, 0)
    except ValueError:
        return None
    for example in test.examples:
        example.options = {}  # outputs are compared exactly, whatever a directive asks for
    exactly = doctest.DONT_ACCEPT_TRUE_FOR_1 | doctest.DONT_ACCEPT_BLANKLINE
    try:
        Runner(verbose=False, optionflags=exactly).run(test, out=lambda _: None)
    except BaseException:  # KeyboardInterrupt, or a trace that broke doctest's own output
        lines.append(0)
    return lines


# ---- Batches ----------------------------------------------------------------------------------

def shorten(text):
    if len(text) > SHOWN:
        text = text[:SHOWN] + ' [...]'
    data = text.encode('utf-8', 'backslashreplace')
    return struct.pack('<I', len(data)) + data


class Replayer:
    TRACE = struct.Struct('<IIQ')  # seed, whether doctest is to check too, bytes of the text

    def __init__(self, keep):
        self.keep = keep
        self.blocks = Blocks(Codes())
        self.hidden = Hidden()

    def run(self, traces, current):
        """The answer to a batch: six counts, the first disagreement, the mismatches that are kept.

        traces are (seed, doctest, text); current[0] always tells which one is being run.
        """
        examples = outputs = mismatches = doctested = refused = disagreements = 0
        disagreed = -1
        kept = []
        for position, (seed, second, text) in enumerate(traces):
            current[0] = position
            self.hidden.prepare(seed, text)
            lines = []
            try:
                plan = Plan(text, self.blocks)
            except Malformed as error:
                lines = None
                mismatches += 1
                if len(kept) < self.keep:
                    kept.append((position, error.line, error.source, '', str(error)))
            else:
                shown, failures = replay(plan.steps)
                examples += len(plan.steps)
                outputs += shown
                mismatches += len(failures)
                for number, got in failures:
                    line, source, want = plan.example(number)
                    lines.append(line)
                    if len(kept) < self.keep:
                        kept.append((position, line, source, want, got))
            if second:
                self.hidden.prepare(seed, text)
                witnessed = doctest_lines(text)
                doctested += 1
                refused += 1 if witnessed is None else len(witnessed)
                if witnessed != lines:
                    disagreements += 1
                    if disagreed < 0:
                        disagreed = position
        answer = [struct.pack('<6QqI', examples, outputs, mismatches, doctested, refused,
                              disagreements, disagreed, len(kept))]
        for position, line, source, want, got in kept:
            answer.append(struct.pack('<QQ', position, line))
            answer += [shorten(part[:-1] if part.endswith('\n') else part)
                       for part in (source, want, got)]
        return b''.join(answer)


def limit_damage():
    """No core files, nothing written to disk, no more than 4 GiB; by no means a sandbox."""
    try:
        import resource
        for which, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0),
                            (resource.RLIMIT_AS, 4 << 30)):
            hard = resource.getrlimit(which)[1]
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (least, least))
    except (ImportError, OSError, ValueError):
        pass


def main():
    import signal
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The pipes move away from 0 and 1, so that neither input() nor a child of a trace meets them.
    requests, replies = os.fdopen(os.dup(0), 'rb', 1 << 17), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    current = memoryview(mmap.mmap(3, 8)).cast('Q')
    os.close(3)
    limit_damage()
    # Bound now: a trace that changes a module must not change how the next one is checked.
    read, write, alarm, trace = requests.read, os.write, signal.alarm, Replayer.TRACE

    def reply(payload):
        frame = memoryview(struct.pack('<Q', len(payload)) + payload)
        while frame:
            frame = frame[write(replies, frame):]

    replayer = Replayer(int(sys.argv[1]))
    sys.argv = ['']
    reply(b'shellgame replay ' + sys.version.split()[0].encode())
    while True:
        head = read(16)
        if len(head) < 16:
            os._exit(0)
        length, count, seconds = struct.unpack('<QII', head)
        alarm(seconds)  # should nobody be left to enforce the time limit
        payload = read(length)
        traces, start = [], count * trace.size
        for seed, second, size in trace.iter_unpack(payload[:start]):
            text = payload[start:start + size].decode('utf-8', 'surrogateescape')
            traces.append((seed, second, text))
            start += size
        del payload
        answer = replayer.run(traces, current)
        alarm(0)
        reply(answer)


if __name__ == '__main__':
    main()
