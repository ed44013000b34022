"""Replays many traces in this one interpreter and answers what they printed.

For traces of the trace language only, which the tool has parsed: they cannot do anything but swap
values, print and assert. The tool starts `python3 -ISBu -c <session.py and this file>` and talks to
it in frames over the two pipes (interpreter.cpp has the other end).
"""
import array


class Replayer:
    TRACE = struct.Struct('<IIIIII')  # seed, loads, examples, whether doctest is asked, bytes of its text, hidden numbers
    SOURCES = struct.Struct('<III')  # whether to forget all sources, new sources, traces

    def __init__(self):
        self.codes = []
        self.hidden = Hidden()

    def learn(self, body, at, count):
        """New sources: each its length and its text; a source's number is its place among all."""
        for _ in range(count):
            length, = struct.unpack_from('<I', body, at)
            at += 4
            self.codes.append(compiled(text_of(body[at:at + length])))
            at += length
        return at

    def run(self, body):
        """Answers four arrays, one after the other: outputs a trace; number, kind and length an
        output; all their bytes; for each trace that doctest was asked about, how many lines and which."""
        forget, sources, count = self.SOURCES.unpack_from(body)
        if forget:
            self.codes.clear()
        at = self.learn(body, self.SOURCES.size, sources)
        end = at + count * self.TRACE.size
        traces = list(self.TRACE.iter_unpack(body[at:end]))
        counts, heads, bodies = array.array('I'), array.array('I'), []
        lines = array.array('I')

        def found(number, kind, data):
            heads.extend((number, kind, len(data)))
            bodies.append(data)

        code_of, prepare = self.codes.__getitem__, self.hidden.prepare
        for seed, loads, examples, second, size, hidden in traces:
            before, start = len(bodies), end
            end = start + 4 * examples
            codes = memoryview(body[start:end]).cast('I')
            numbers, end = numbers_of(body, end, hidden)
            prepare(seed, loads, numbers)
            play(map(code_of, codes), Output(), found)
            if self.hidden.left:
                found(examples, RAISED, self.hidden.left_over())
            counts.append(len(bodies) - before)
            if second:
                prepare(seed, loads, numbers)
                failed = doctest_lines(text_of(body[end:end + size]))
                lines.append(NO_LINES if failed is None else len(failed))
                lines.extend(failed or ())
                end += size
        return b''.join([counts.tobytes(), heads.tobytes(), *bodies, lines.tobytes()])


def main():
    import signal
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as it is for jobs in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    requests, replies = take_pipes()
    read = os.fdopen(requests, 'rb', 1 << 17).read
    limit('RLIMIT_CORE', 0)
    limit('RLIMIT_FSIZE', 0)
    limit('RLIMIT_AS', 4 << 30)
    replayer = Replayer()
    sys.argv = ['']
    send(replies, b'shellgame replay ' + sys.version.split()[0].encode())
    while True:
        head = read(12)
        if len(head) < 12:
            os._exit(0)
        length, seconds = struct.unpack('<QI', head)
        signal.alarm(seconds)  # should nobody be left to enforce the time limit
        answer = replayer.run(read(length))
        signal.alarm(0)
        send(replies, answer)


if __name__ == '__main__':
    main()
