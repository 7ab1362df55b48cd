//! The system calls that the standard library and `socket2` lack.
//!
//! Those on the path of every request are made by number: glibc's functions of the same names are
//! points at which a thread may be cancelled, which costs two atomic operations a call.

use socket2::{Domain, Type};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// The result of a receive: the number of bytes, and the wall-clock time of the last packet if
/// known.
pub(crate) struct RawReceived {
    pub(crate) bytes: usize,
    pub(crate) wall_ns: Option<u64>,
}

/// Returns the machine's monotonic clock: nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

#[inline]
pub(crate) fn wall_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

#[inline]
fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel fills `time`; all clocks used here exist on every Linux, so the call
    // cannot fail.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

/// Lets the thread's timers fire to the nanosecond instead of up to 50 µs late.
pub(crate) fn lower_timer_slack() -> io::Result<()> {
    // SAFETY: the option takes a number and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) })?;
    Ok(())
}

/// Returns the delay that the kernel may add to this thread's timers.
pub(crate) fn timer_slack_ns() -> Option<u64> {
    // SAFETY: the option takes nothing and touches no memory of ours.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    u64::try_from(slack).ok()
}

/// Makes the C library resolve hosts from files and by DNS only, whatever `nsswitch.conf` contains.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
pub(crate) fn resolve_by_files_and_dns_only() {
    unsafe extern "C" {
        /// glibc's `nss.h`: replaces the line of one database.
        fn __nss_configure_lookup(
            database: *const libc::c_char,
            line: *const libc::c_char,
        ) -> libc::c_int;
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: both texts end with zero and are only read; once, before the first look-up. If it
    // fails, the system's configuration remains in effect.
    ONCE.call_once(|| unsafe {
        __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr());
    });
}

/// Returns the core on which this thread currently runs.
pub(crate) fn core() -> Option<u32> {
    // SAFETY: takes nothing and touches no memory of ours.
    let core = unsafe { libc::sched_getcpu() };
    u32::try_from(core).ok()
}

/// Returns this thread's CPU time since it began.
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Sleeps for this time, or until a signal arrives.
pub(crate) fn sleep(duration_ns: u64) {
    let duration = libc::timespec {
        tv_sec: (duration_ns / NS_PER_S) as libc::time_t,
        tv_nsec: (duration_ns % NS_PER_S) as libc::c_long,
    };
    // SAFETY: `duration` is valid for reads, and the remaining time is not written.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &duration, ptr::null_mut()) };
}

/// Creates a descriptor that becomes readable at the instant set by [`timer_set`].
pub(crate) fn timer_create() -> io::Result<OwnedFd> {
    let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
    // SAFETY: no memory is passed; the descriptor returned is ours alone.
    unsafe {
        let fd = check(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Sets the instant of `CLOCK_MONOTONIC`, possibly in the past, at which a timer's descriptor
/// becomes readable; never if it is `None`. Until then the descriptor is not readable.
pub(crate) fn timer_set(timer: BorrowedFd<'_>, due_ns: Option<u64>) -> io::Result<()> {
    // An instant of 0 would disarm the timer.
    let due_ns = due_ns.map_or(0, |due_ns| due_ns.max(1));
    let zero = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let setting = libc::itimerspec {
        it_interval: zero,
        it_value: libc::timespec {
            tv_sec: (due_ns / NS_PER_S) as libc::time_t,
            tv_nsec: (due_ns % NS_PER_S) as libc::c_long,
        },
    };
    let (fd, flags) = (timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME);
    // SAFETY: `setting` is valid for reads, and the previous setting is not written.
    check(unsafe { libc::timerfd_settime(fd, flags, &setting, ptr::null_mut()) })?;
    Ok(())
}

pub(crate) fn epoll_create() -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed; the descriptor returned is ours alone.
    unsafe {
        let fd = check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

pub(crate) fn epoll_add(epoll: BorrowedFd<'_>, fd: RawFd, events: u32, key: u64) -> io::Result<()> {
    epoll_control(epoll, libc::EPOLL_CTL_ADD, fd, events, key)
}

pub(crate) fn epoll_change(
    epoll: BorrowedFd<'_>,
    fd: RawFd,
    events: u32,
    key: u64,
) -> io::Result<()> {
    epoll_control(epoll, libc::EPOLL_CTL_MOD, fd, events, key)
}

fn epoll_control(
    epoll: BorrowedFd<'_>,
    operation: libc::c_int,
    fd: RawFd,
    events: u32,
    key: u64,
) -> io::Result<()> {
    let mut event = libc::epoll_event { events, u64: key };
    // SAFETY: `event` is valid for the kernel to read.
    check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd, &mut event) })?;
    Ok(())
}

/// Fills `events`; an interrupted wait returns no events.
pub(crate) fn epoll_wait(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<libc::epoll_event>,
    most: usize,
    timeout_ns: Option<u64>,
) -> io::Result<()> {
    events.clear();
    events.reserve(most);
    let (fd, buffer, most) = (epoll.as_raw_fd(), events.as_mut_ptr(), most as libc::c_int);
    let got = match wait_exactly(fd, buffer, most, timeout_ns) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            wait_in_milliseconds(fd, buffer, most, timeout_ns)
        }
        result => result,
    };
    match got {
        // SAFETY: the kernel filled the first `count` of at least `most` reserved events.
        Ok(count) => unsafe { events.set_len(count as usize) },
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Calls `epoll_pwait2`, whose timeout has nanoseconds (Linux 5.11).
fn wait_exactly(
    epoll: RawFd,
    buffer: *mut libc::epoll_event,
    most: libc::c_int,
    timeout_ns: Option<u64>,
) -> io::Result<libc::c_int> {
    static MISSING: AtomicBool = AtomicBool::new(false);
    if MISSING.load(Ordering::Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::ENOSYS));
    }
    let timeout = timeout_ns.map(|ns| libc::timespec {
        tv_sec: (ns / NS_PER_S) as libc::time_t,
        tv_nsec: (ns % NS_PER_S) as libc::c_long,
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `buffer` has room for `most` events, `timeout` is null or valid for the call, and a
    // null signal mask leaves the mask alone.
    let got = check(unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll,
            buffer,
            most,
            timeout,
            ptr::null::<libc::sigset_t>(),
            0usize,
        ) as libc::c_int
    });
    if let Err(error) = &got {
        MISSING.store(
            error.raw_os_error() == Some(libc::ENOSYS),
            Ordering::Relaxed,
        );
    }
    got
}

/// Waits on kernels without `epoll_pwait2`. Rounds the timeout down, so that the loop wakes up
/// early and polls for the rest of the last millisecond instead of being late.
fn wait_in_milliseconds(
    epoll: RawFd,
    buffer: *mut libc::epoll_event,
    most: libc::c_int,
    timeout_ns: Option<u64>,
) -> io::Result<libc::c_int> {
    let timeout_ms = timeout_ns.map_or(-1, |ns| (ns / NS_PER_MS).min(i32::MAX as u64) as i32);
    // SAFETY: `buffer` has room for `most` events.
    check(unsafe { libc::epoll_wait(epoll, buffer, most, timeout_ms) })
}

/// Room for the control messages of one packet, aligned as the kernel requires.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

const CONTROL_BYTES: usize = 256;

/// Receives into `buffer` (or drops up to `length` bytes if `buffer` is null) and returns the
/// timestamp of the last packet.
///
/// # Safety
/// `buffer` must be valid for writes of `length` bytes, or null with `flags` containing `MSG_TRUNC`
/// and `fd` a TCP socket, whose bytes the kernel then drops without touching memory.
unsafe fn receive_message(
    fd: RawFd,
    buffer: *mut u8,
    length: usize,
    flags: libc::c_int,
) -> io::Result<RawReceived> {
    let mut part = libc::iovec {
        iov_base: buffer.cast(),
        iov_len: length,
    };
    let mut control = MaybeUninit::<Control>::uninit();
    // SAFETY: all zeros is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<Control>() as _;
    // SAFETY: `message` points to a valid part and to room for control data, for this call.
    let got = unsafe { libc::syscall(libc::SYS_recvmsg, fd, &mut message, flags) };
    let bytes = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel filled `message`'s control data.
    let wall_ns = unsafe { timestamp(&message) };
    Ok(RawReceived { bytes, wall_ns })
}

/// Returns the receive timestamp among a message's control data.
///
/// # Safety
/// `message` must be as `recvmsg` left it, its control data still alive.
unsafe fn timestamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the macros walk the control data that the kernel wrote; a header is read only if they
    // report one, and the time only after a header of its type, which the kernel follows by a whole
    // timespec.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            let kind = ((*header).cmsg_level, (*header).cmsg_type);
            if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                let time: libc::timespec = ptr::read_unaligned(libc::CMSG_DATA(header).cast());
                return Some(time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64);
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

pub(crate) fn receive_stamped(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<RawReceived> {
    // SAFETY: `buffer` is valid for writes of its length.
    unsafe { receive_message(fd.as_raw_fd(), buffer.as_mut_ptr(), buffer.len(), 0) }
}

pub(crate) fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `buffer` is valid for writes of its length.
    let got = unsafe {
        libc::syscall(
            libc::SYS_read,
            fd.as_raw_fd(),
            buffer.as_mut_ptr(),
            buffer.len(),
        )
    };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Drops received bytes of a TCP socket without copying them (`MSG_TRUNC`, see tcp(7)).
pub(crate) fn discard_tcp(fd: BorrowedFd<'_>, most: usize) -> io::Result<RawReceived> {
    // SAFETY: the buffer is null, the flag is set, and the caller guarantees that it is TCP.
    unsafe { receive_message(fd.as_raw_fd(), ptr::null_mut(), most, libc::MSG_TRUNC) }
}

pub(crate) fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let (to, length) = (ptr::null::<libc::sockaddr>(), 0usize);
    // SAFETY: `bytes` is valid for reads of its length, and there is no address to read.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_sendto,
            fd.as_raw_fd(),
            bytes.as_ptr(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
            to,
            length,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// The time at which the last byte of a send left for the network device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendStamp {
    /// The number of that byte, counted since [`number_sends`].
    pub(crate) number: u32,
    pub(crate) wall_ns: u64,
}

/// Makes the kernel number the bytes that are sent from here on, and report the timestamps of those
/// that [`send_stamped`] sends (Linux, Documentation/networking/timestamping). The socket has to be
/// connected, with no bytes in flight.
pub(crate) fn number_sends(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_SOFTWARE
        | libc::SOF_TIMESTAMPING_OPT_ID
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    set_number(
        fd,
        libc::SOL_SOCKET,
        libc::SO_TIMESTAMPING,
        flags as libc::c_int,
    )
}

/// Sends, and makes the kernel timestamp the last byte when it goes to the network device.
pub(crate) fn send_stamped(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = Control([0; CONTROL_BYTES]);
    // SAFETY: all zeros is a valid msghdr; the macros only compute sizes and the position of the
    // first header, for which `control` has room and alignment, and which is filled in before use.
    // The kernel only reads the part, although its pointer is one for writing.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<u32>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SO_TIMESTAMPING;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<u32>() as u32) as _;
        ptr::write_unaligned(
            libc::CMSG_DATA(header).cast(),
            libc::SOF_TIMESTAMPING_TX_SOFTWARE,
        );
        libc::syscall(
            libc::SYS_sendmsg,
            fd.as_raw_fd(),
            &message,
            libc::MSG_NOSIGNAL,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Reads the next timestamp of a send from the kernel; `None` if there is none.
pub(crate) fn take_stamp(fd: BorrowedFd<'_>) -> Option<SendStamp> {
    let mut control = MaybeUninit::<Control>::uninit();
    // SAFETY: all zeros is a valid msghdr; it has room for control data and nothing else. The
    // kernel fills that in before it is read.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>() as _;
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        let got = libc::syscall(libc::SYS_recvmsg, fd.as_raw_fd(), &mut message, flags);
        if got < 0 { None } else { send_stamp(&message) }
    }
}

/// Returns the timestamp of a send from the control data of an error message: the time is in one
/// part, the number in the other.
///
/// # Safety
/// `message` must be as `recvmsg` left it, its control data still alive.
unsafe fn send_stamp(message: &libc::msghdr) -> Option<SendStamp> {
    let (mut wall_ns, mut number) = (None, None);
    // SAFETY: as in `timestamp`; a time of this type begins with the software stamp, and the other
    // two types are followed by a whole sock_extended_err.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            let data = libc::CMSG_DATA(header);
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                    let time: libc::timespec = ptr::read_unaligned(data.cast());
                    wall_ns = Some(time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64);
                }
                (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                    let error: libc::sock_extended_err = ptr::read_unaligned(data.cast());
                    let is_stamp = error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING;
                    number = is_stamp.then_some(error.ee_data);
                }
                _ => {}
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    // An error that is not a timestamp gets no time, and a number that no send has.
    let (number, wall_ns) = (number.unwrap_or(u32::MAX), wall_ns.unwrap_or(0));
    Some(SendStamp { number, wall_ns })
}

/// Returns the number of bytes that a TCP socket accepted and that were not acknowledged, whether
/// sent or not; after the end of the connection, those that never will be stay counted (tcp(7),
/// `SIOCOUTQ`).
pub(crate) fn unacknowledged(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one `int`, for which `bytes` has room.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    u64::try_from(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Requests a receive timestamp with every packet.
pub(crate) fn stamp_received(fd: BorrowedFd<'_>) -> io::Result<()> {
    set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)
}

/// True if this kernel timestamps what TCP sockets receive: gVisor and emulators may not. Without
/// timestamps, a read is the time of what it returns.
pub fn stamps_received() -> bool {
    static STAMPS: OnceLock<bool> = OnceLock::new();
    *STAMPS.get_or_init(|| {
        let socket = socket2::Socket::new(Domain::IPV4, Type::STREAM, None);
        // A socket that can't be made is reported where one is needed.
        socket.map_or(true, |socket| stamp_received(socket.as_fd()).is_ok())
    })
}

/// Sets the number of received bytes from which on the socket counts as readable.
pub(crate) fn set_receive_low_water(fd: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    set_number(
        fd,
        libc::SOL_SOCKET,
        libc::SO_RCVLOWAT,
        bytes as libc::c_int,
    )
}

/// Leaves the choice of a bound socket's port to `connect`, so that one local address serves as
/// many connections to each target as there are ports.
pub(crate) fn choose_port_at_connect(fd: BorrowedFd<'_>) -> io::Result<()> {
    set_option(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT)
}

fn set_option(fd: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int) -> io::Result<()> {
    set_number(fd, level, option, 1)
}

fn set_number(
    fd: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: `value` is valid for reads of the length given.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            option,
            ptr::from_ref(&value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })?;
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
