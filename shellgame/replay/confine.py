"""What the system can take away from a process: namespaces, rights, system calls.

Stands between session.py and warden.py. Whatever the system refuses is left out, and what is in force
is told to the tool. Linux; the system calls that Python has no name for are made by ctypes.
"""
import ctypes
import errno
import signal

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
REFUSED = 77  # exit code of a process that could not enter namespaces
STRANGER = 0x70000000  # the first of the user numbers that root's sessions get; nobody has them

libc = ctypes.CDLL(None, use_errno=True)


def system(name, *arguments):
    """A call of libc that answers 0; OSError otherwise."""
    function = getattr(libc, name)
    function.restype = ctypes.c_long
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)


def prctl(option, value):
    system('prctl', option, value, 0, 0, 0)


def die_with_parent():
    prctl(1, signal.SIGKILL)


def write_map(name, line):
    with open('/proc/self/' + name, 'w') as file:
        file.write(line)


def separate(kinds, at_end):
    """The process goes on as number 1 of a namespace of its own; the others wait for it.

    The first of these, which stays outside, calls at_end() last. Returns False, in that process,
    where the system refuses.
    """
    user, group = os.getuid(), os.getgid()
    for extra in ((0, NEWUSER) if user == 0 else (NEWUSER,)):
        middle = os.fork()
        if middle == 0:
            try:
                die_with_parent()
                system('unshare', kinds | extra)
                if extra:
                    write_map('setgroups', 'deny')
                    write_map('gid_map', '%d %d 1' % (group, group))
                    write_map('uid_map', '%d %d 1' % (user, user))
                inner = os.fork()
            except OSError:
                os._exit(REFUSED)
            if inner == 0:
                die_with_parent()
                return True
            leave_with(inner)
        else:
            status = os.waitpid(middle, 0)[1]
            if not (os.WIFEXITED(status) and os.WEXITSTATUS(status) == REFUSED):
                at_end()
                end_like(status)
    return False


def end_like(status):
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def leave_with(child):
    """Holds nothing open, waits for the child and ends as it does."""
    os.closerange(0, 64)
    end_like(os.waitpid(child, 0)[1])


def mount(source, target, kind, flags):
    system('mount', source, target, kind, flags, None)


def set_read_only(path, on, recursive):
    attributes = struct.pack('<4Q', 1 if on else 0, 0 if on else 1, 0, 0)
    system('syscall', 442, -100, path, 0x8000 if recursive else 0,
           ctypes.c_char_p(attributes), len(attributes))  # mount_setattr


def make_files_read_only(folder):
    """In a mount namespace: /proc shows this namespace only, and all but `folder` is read-only."""
    MS_BIND, MS_REC, MS_PRIVATE, NO_SUID_DEV_EXEC = 0x1000, 0x4000, 1 << 18, 2 | 4 | 8
    try:
        mount(None, b'/', None, MS_REC | MS_PRIVATE)  # or what is mounted here would show outside
    except OSError:
        return False  # a chroot into a plain folder
    try:
        mount(b'proc', b'/proc', b'proc', NO_SUID_DEV_EXEC)
    except OSError:
        pass  # a container's /proc has parts covered: the outer one stays, other checks guard it
    try:
        mount(folder, folder, None, MS_BIND)
        set_read_only(b'/', True, True)
        set_read_only(folder, False, False)
        return True
    except OSError:
        return False


def stranger_for(number):
    """A user number that root can become and that can still read Python's own library; or None."""
    for user in (STRANGER + number, 65534):
        child = os.fork()
        if child == 0:
            try:
                become(user)
                open(os.__file__, 'rb').close()
                os._exit(0)
            except BaseException:
                os._exit(1)
        if os.waitpid(child, 0)[1] == 0:
            return user
    return None


def become(user):
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def drop_capabilities():
    header = struct.pack('<Ii', 0x20080522, 0)
    system('capset', ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))


def gain_no_rights():
    prctl(38, 1)  # PR_SET_NO_NEW_PRIVS: no program that is started can have more rights


# System calls that a session has no business with: signals to others, other processes' memory, sockets
# (of all kinds: a socket file may be a door to a service), new namespaces and mounts, what can do
# any of these by another way. By machine: its audit number, and the calls' numbers.
FORBIDDEN = {
    'x86_64': (0xc000003e, {'kill': 62, 'tkill': 200, 'tgkill': 234, 'clone': 56, 'forks': (57, 58)}, (
        129, 297, 424,  # rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal
        101, 310, 311, 438,  # ptrace, process_vm_readv, process_vm_writev, pidfd_getfd
        41, 425,  # socket, io_uring_setup
        248, 249, 250, 321, 298, 323,  # keys, bpf, perf_event_open, userfaultfd
        272, 308, 165, 166, 155, 428, 429, 430, 442)),  # unshare, setns, mounts
    'aarch64': (0xc00000b7, {'kill': 129, 'tkill': 130, 'tgkill': 131, 'clone': 220, 'forks': ()}, (
        138, 240, 424,
        117, 270, 271, 438,
        198, 425,
        217, 218, 219, 280, 241, 282,
        97, 268, 40, 39, 41, 428, 429, 430, 442)),
}


def filter_calls(processes):
    """A seccomp filter: forbidden calls get EPERM, and kill() reaches the process itself only.

    Without `processes`, threads are all that can be started.
    """
    machine, calls, forbidden = FORBIDDEN[os.uname().machine]
    if not processes:
        forbidden += calls['forks']
    LOAD, EQUAL, ABOVE, ANY_OF, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
    ALLOW, KILL, DENY, MISSING = 0x7fff0000, 0x80000000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
    program = []

    def add(code, value, yes=0, no=0):
        program.append(struct.pack('<HBBI', code, yes, no, value))

    add(LOAD, 4)
    add(EQUAL, machine, 1, 0)
    add(RETURN, KILL)
    add(LOAD, 0)
    add(ABOVE, 0x40000000, 0, 1)  # the x32 numbers of the same calls
    add(RETURN, DENY)
    for call in forbidden:
        add(EQUAL, call, 0, 1)
        add(RETURN, DENY)
    add(EQUAL, 435, 0, 1)  # clone3, whose flags cannot be seen: libc then takes clone
    add(RETURN, MISSING)
    add(EQUAL, calls['tkill'], 0, 1)  # by thread, which may be anybody's
    add(RETURN, DENY)
    if not processes:
        add(EQUAL, calls['clone'], 0, 4)
        add(LOAD, 16)  # its flags
        add(ANY_OF, 0x10000, 0, 1)  # CLONE_THREAD
        add(RETURN, ALLOW)
        add(RETURN, DENY)
    add(EQUAL, calls['kill'], 2, 0)
    add(EQUAL, calls['tgkill'], 1, 0)
    add(RETURN, ALLOW)
    add(LOAD, 16)  # whom the signal is for
    add(EQUAL, os.getpid(), 0, 1)
    add(RETURN, ALLOW)
    add(RETURN, DENY)

    class Program(ctypes.Structure):
        _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_char_p)]

    code = b''.join(program)
    handed = Program(len(program), code)
    gain_no_rights()  # the system asks for it first
    system('prctl', 22, 2, ctypes.byref(handed), 0, 0)


def can(work):
    """Whether a process of its own can do this."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
