"""Runs the examples of one session as the interactive shell does, and tells what each printed.

What it should have printed is not known here: the tool compares. This file stands before replay.py
(many sessions in one interpreter) and before warden.py (a process for each). CPython 3.8 and later.
"""
import builtins
import io
import os
import random
import struct
import sys
import types

# What happened in an example; session_outputs.h has the same numbers.
PRINTED, RAISED, NO_TEXT, BEGINS, DONE, DOCTEST = range(6)
NO_LINES = 0xffffffff  # doctest refuses the text


class Refused:
    """Stands where the code of a source that does not compile would be."""

    def __init__(self, error):
        self.error = error.with_traceback(None)


def compiled(source):
    if not source.endswith('\n'):
        source += '\n'
    try:
        return compile(source, '<trace>', 'single', 0, True)
    except Exception as error:
        return Refused(error)


def text_of(data):
    return data.decode('utf-8', 'surrogateescape')


def encoded(kind, text):
    """A lone surrogate that came from no byte of the trace has no UTF-8: it is shown escaped."""
    try:
        return kind, text.encode('utf-8', 'surrogateescape')
    except UnicodeEncodeError:
        return NO_TEXT, text.encode('utf-8', 'backslashreplace')


class Hidden:
    """What a trace may read but does not show: random's state, LOAD_1.. and the module service."""

    def __init__(self):
        self.loads, self.random, self.left = 0, random.random, None
        self.service = types.ModuleType('service')

    def prepare(self, seed, loads, numbers=None):
        """Everything anew, as a function of the seed; random() may return a list of numbers instead."""
        random.seed(seed)
        random.random, self.left = self.random, None
        if numbers is not None:
            self.left = left = list(reversed(numbers))

            def listed():
                if not left:
                    raise IndexError('the list of hidden numbers is too short')
                return left.pop()

            random.random = listed
        if loads:
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

    def left_over(self):
        """A line about hidden numbers that nobody drew, or nothing."""
        return b'%d hidden numbers were not drawn' % len(self.left) if self.left else b''


def numbers_of(body, at, count):
    """(the list of hidden numbers or None, where it ends)"""
    if count == NO_LINES:
        return None, at
    end = at + 8 * count
    return struct.unpack('<%dd' % count, body[at:end]), end


def last_line(error):
    import traceback
    return traceback.format_exception_only(type(error), error)[-1]


class Output(io.StringIO):
    __slots__ = ()

    def close(self):  # a trace that closes its output must not take ours
        pass


def play(codes, out, found):
    """Runs the codes in fresh globals; found(number, kind, bytes) hears of those that print or raise."""
    space = {'__name__': '__main__'}
    sys.stdout = out
    sys.displayhook = sys.__displayhook__
    shown, execute = out.getvalue, exec
    number = 0
    for code in codes:
        try:
            execute(code, space)
        except BaseException as error:
            out.seek(0)
            out.truncate()
            found(number, *encoded(RAISED, last_line(code.error if type(code) is Refused else error)))
        else:
            got = shown()
            if got:
                out.seek(0)
                out.truncate()
                found(number, *encoded(PRINTED, got))
        number += 1


def doctest_lines(text):
    """The lines of the examples that doctest, the second witness, fails; None if it refuses the text."""
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


def limit(which, most):
    """Both limits of a resource, unless the system has a lower one."""
    import resource
    try:
        which = getattr(resource, which)
        hard = resource.getrlimit(which)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, least))
    except (AttributeError, OSError, ValueError):
        pass


def take_pipes():
    """Requests and replies, moved away from 0 and 1, which lead nowhere from now on."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return requests, replies


def send(descriptor, payload):
    frame = memoryview(struct.pack('<Q', len(payload)) + payload)
    while frame:
        frame = frame[os.write(descriptor, frame):]
