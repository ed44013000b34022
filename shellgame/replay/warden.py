"""Runs sessions of any text, each in a process of its own, which can reach as little as possible.

This process runs no code of a trace. It forks for each session, takes what the session says it printed
(it can lie about its own output and nothing else: the tool compares), and ends whatever it started.
The tool starts `python3 -ISBu -c <session.py, confine.py and this file> FOLDER MEMORY NAMESPACES RIGHTS` with
an environment of a few variables, and talks to it in frames (warden.cpp has the other end).
"""
import gc
import select
import time

JOB = struct.Struct('<IIIIId')  # kind of job, seed, loads, sources, hidden numbers, seconds
REPLAY_JOB, DOCTEST_JOB = 0, 1
ENDED, TOO_LONG, TOO_MUCH = 0, 1, 2
OUTPUT_LIMIT = 16 << 20
FILE_LIMIT, OPEN_LIMIT, PROCESS_LIMIT = 0, 64, 16
# Exit codes of a session: it could not be set up, or broke what runs it; it printed too much.
BROKEN, FULL = 70, 71
RESULTS = 3  # the only descriptor of a session beside three that lead nowhere


class BoundedOutput(Output):
    """Ends the session before what it prints takes all memory that it may have."""

    def __init__(self):
        super().__init__()
        self.length = 0

    def write(self, text):
        self.length += len(text)
        if self.length > OUTPUT_LIMIT:
            os._exit(FULL)
        return super().write(text)


class Warden:
    def __init__(self, folder, memory, namespaces, rights):
        self.memory, self.replies, self.requests = memory, None, None
        self.stranger, self.in_force = None, []
        self.sessions, self.folder, self.child = 0, None, None
        self.top, outer = folder, os.getpid()
        self.first = namespaces and separate(NEWPID | NEWNET | NEWNS | NEWIPC, self.remove_folder)
        os.chdir(folder)
        if self.first:
            self.in_force += ['no network', 'process numbers of its own']
            if make_files_read_only(folder.encode()):
                self.in_force.append('read-only files')
            os.chdir(folder)  # the one that can be written
        prctl(36, 1)  # whoever loses its parent becomes a child of this process
        prctl(4, 0)   # sessions of the same user cannot look into it
        if rights and os.getuid() == 0:
            self.stranger = stranger_for(outer)
            if self.stranger is not None:
                self.in_force.append('another user')
        # Processes are for namespaces, where none can hide, and their limit does not bind root.
        self.processes = self.first and (self.stranger is not None or os.getuid() != 0)
        self.filtered = rights and can(lambda: filter_calls(self.processes))
        if self.filtered:
            self.in_force.append('filtered system calls')

    # ---- The session's own process ------------------------------------------------------------

    def session(self, results, job, body):
        kind, seed, loads, sources, numbers, seconds = job
        numbers, at = numbers_of(body, 0, numbers)
        body = body[at:]
        os.setsid()
        os.dup2(results, RESULTS, inheritable=False)
        os.dup2(0, 2)
        os.closerange(RESULTS + 1, 1024)
        os.chdir(self.folder)
        limit('RLIMIT_CORE', 0)
        limit('RLIMIT_FSIZE', FILE_LIMIT)
        limit('RLIMIT_NOFILE', OPEN_LIMIT)
        limit('RLIMIT_NPROC', PROCESS_LIMIT)
        limit('RLIMIT_MSGQUEUE', 0)
        limit('RLIMIT_CPU', int(seconds) + 2)
        limit('RLIMIT_AS', self.memory)
        if self.stranger is not None:
            become(self.stranger)
        drop_capabilities()
        gain_no_rights()
        die_with_parent()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.filtered:
            filter_calls(self.processes)
        hidden = Hidden()
        hidden.prepare(seed, loads, numbers)
        write, pack, me, identity = os.write, struct.pack, os.getpid(), os.getpid

        def tell(number, what, data):
            frame = memoryview(pack('<III', number, what, len(data)) + data)
            while frame:
                frame = frame[write(RESULTS, frame):]

        if kind == DOCTEST_JOB:
            lines = doctest_lines(text_of(body))
            number = NO_LINES if lines is None else len(lines)
            if identity() == me:
                tell(number, DOCTEST, pack('<%dI' % len(lines or ()), *(lines or ())))
            return

        def codes():
            at = 0
            for number in range(sources):
                if identity() != me:  # a copy that the session made of itself
                    os._exit(0)
                tell(number, BEGINS, b'')
                length, = struct.unpack_from('<I', body, at)
                yield compiled(text_of(body[at + 4:at + 4 + length]))
                at += 4 + length

        def found(number, what, data):
            if identity() == me:
                tell(number, what, data)

        play(codes(), BoundedOutput(), found)
        if identity() == me:
            if hidden.left:
                tell(sources, RAISED, hidden.left_over())
            tell(sources, DONE, b'')

    # ---- This side ----------------------------------------------------------------------------

    def run(self, job, body):
        self.sessions += 1
        self.folder = 'session-%d' % self.sessions
        os.mkdir(self.folder, 0o700)
        if self.stranger is not None:
            os.chown(self.folder, self.stranger, self.stranger)
        results, theirs = os.pipe()
        child = self.child = os.fork()
        if child == 0:
            code = BROKEN
            try:
                os.close(results)
                self.session(theirs, job, body)
                code = 0
            finally:
                os._exit(code)
        os.close(theirs)
        try:
            return self.watch(child, results, job[-1])
        finally:
            os.close(results)
            self.end_all()
            empty('.')

    def watch(self, child, results, seconds):
        """(why it ended, status, bytes): until the session's first process is gone, or must go."""
        deadline = time.monotonic() + seconds
        os.set_blocking(results, False)
        events = select.poll()
        events.register(results, select.POLLIN)
        events.register(self.requests, 0)  # only to hear that the tool is gone
        data, patience = bytearray(), 20  # milliseconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return TOO_LONG, 0, data
            for descriptor, _ in events.poll(min(left * 1000, patience)):
                if descriptor == self.requests:
                    self.end_all()
                    self.leave()
            gone, status = os.waitpid(child, os.WNOHANG)
            while True:  # after waitpid: what the process wrote is in the pipe by then
                try:
                    piece = os.read(results, 1 << 16)
                except BlockingIOError:
                    break
                if not piece:
                    if patience > 1:
                        events.unregister(results)
                    patience = 1  # it is about to end
                    break
                data += piece
                if len(data) > OUTPUT_LIMIT:
                    return TOO_MUCH, 0, data
            if gone:
                self.child = None
                full = os.WIFEXITED(status) and os.WEXITSTATUS(status) == FULL
                return TOO_MUCH if full else ENDED, status, data

    def end_all(self):
        """Kills all that the session started, wherever it hid, and waits until it is gone."""
        until = time.monotonic() + 10
        while True:
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return  # whoever lost its parent would be a child of this process
            if self.first:
                signal_all([-1], signal.SIGKILL)  # everybody in this namespace but this process
            else:
                # Stopped first: whoever is killed makes room for a child of another one.
                stopped = set()
                while time.monotonic() < until:
                    running = descendants() - stopped
                    if not running:
                        break
                    signal_all(running, signal.SIGSTOP)
                    stopped |= running
                signal_all(stopped, signal.SIGKILL)
                if self.child is not None:  # where /proc shows nobody
                    signal_all([-self.child, self.child], signal.SIGKILL)
            if time.monotonic() > until:
                os._exit(1)  # what cannot be ended must not be near the next session
            time.sleep(0.001)

    def leave(self):
        empty('.')
        if not self.first:
            self.remove_folder()
        os._exit(0)

    def remove_folder(self):
        """By the process that is outside of the namespace, if there is one: inside, it is mounted."""
        try:
            os.rmdir(self.top)
        except OSError:
            pass  # the tool tries too

    def serve(self):
        gc.freeze()  # pages that sessions share stay shared
        read = os.fdopen(os.dup(self.requests), 'rb', 1 << 16).read
        version = sys.version.split()[0]
        send(self.replies, '\n'.join(['shellgame warden', version] + self.in_force).encode())
        while True:
            head = read(8 + JOB.size)
            if len(head) < 8 + JOB.size:
                self.leave()
            length, = struct.unpack_from('<Q', head)
            job = JOB.unpack_from(head, 8)
            why, status, data = self.run(job, read(length))
            send(self.replies, struct.pack('<II', why, status) + data)


def descendants():
    """The processes that come from this one. Orphans stay among them (PR_SET_CHILD_SUBREAPER)."""
    parents = {}
    for name in os.listdir('/proc') if os.path.isdir('/proc') else ():
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name, 'rb') as file:
                    parents[int(name)] = int(file.read().rpartition(b')')[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    found, before = {os.getpid()}, 0
    while len(found) > before:
        before = len(found)
        found.update([process for process, parent in parents.items() if parent in found])
    return found - {os.getpid()}


def signal_all(processes, number):
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:
            pass


def empty(top):
    """Removes all that is in a folder. What lies deep comes up first, so that no depth is too deep."""
    number = 0
    names = os.listdir(top)
    while names:
        name = names.pop()
        path = os.path.join(top, name)
        try:
            os.unlink(path)
            continue
        except OSError:
            pass
        try:
            os.chmod(path, 0o700)
            for inner in os.listdir(path):
                below = os.path.join(path, inner)
                try:
                    os.unlink(below)
                except OSError:
                    os.chmod(below, 0o700)  # a folder is moved only by those who may write it
                    number += 1
                    names.append('deep-%d' % number)
                    os.rename(below, os.path.join(top, names[-1]))
            os.rmdir(path)
        except OSError:
            pass  # the tool removes the folder at the end, and says so if it cannot


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tool ends this process, by closing its input
    folder, memory, namespaces, rights = sys.argv[1:5]
    sys.argv = ['']
    import doctest, resource, traceback  # once, not in each session
    for name in set(os.environ) - {'PATH', 'LANG', 'LD_LIBRARY_PATH'}:
        del os.environ[name]  # what a script that stands for python3 may have added
    os.setsid()  # what is sent to the tool's group is for the tool
    requests, replies = take_pipes()
    warden = Warden(folder, int(memory), namespaces == '1', rights == '1')
    warden.requests, warden.replies = requests, replies
    warden.serve()


if __name__ == '__main__':
    main()
