#ifndef CLINUX_H
#define CLINUX_H
/* What Glibc's module does not show to Swift: GNU extensions, variadic functions,
   headers it leaves out. No logic.

   No feature macro is defined here and no GNU header included: every C module
   carries its own copy of libc's declarations, and Swift insists that all copies
   are the same. What needs _GNU_SOURCE is behind a function in CLinux.c. */
#include <linux/rtnetlink.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/types.h>

/* Enumerations of libc that not every build shows. */
extern const int LINUX_SOCK_STREAM;
extern const int LINUX_SOCK_RAW;
extern const int LINUX_SOCK_SEQPACKET;
extern const int LINUX_SOCK_NONBLOCK;
extern const int LINUX_SOCK_CLOEXEC;
extern const int LINUX_RLIMIT_CPU;
extern const int LINUX_RLIMIT_DATA;
extern const int LINUX_RLIMIT_NPROC;

/* pipe2(2) with O_CLOEXEC. */
int linux_pipe_cloexec(int ends[2]);
/* accept4(2), non-blocking and close-on-exec, without the peer's address. */
int linux_accept(int listener);
/* The user and process at the other end of a Unix socket, by SO_PEERCRED (unix(7)); 0, or -1. */
int linux_peer(int descriptor, uid_t *user, pid_t *process);
/* openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: a descriptor, closed on exec, or -1. */
int linux_open_beneath(int folder, const char *path, int flags);
/* memfd_create(2), closed on exec. */
int linux_memory_file(void);
/* sendmsg(2) with one descriptor (SCM_RIGHTS, unix(7)). */
ssize_t linux_send_descriptor(int socket, const void *bytes, size_t count, int descriptor);
/* recvmsg(2) with at most one descriptor, closed on exec; -1 when there is none. */
ssize_t linux_receive_descriptor(int socket, void *bytes, size_t count, int *descriptor);
/* prctl(2), PR_SET_DUMPABLE 0. */
int linux_forbid_core_dumps(void);
/* pidfd_open(2). */
int linux_pidfd_open(pid_t pid);
/* posix_spawn_file_actions_addclosefrom_np(3). */
int linux_spawn_close_from(posix_spawn_file_actions_t *actions, int first);
/* posix_spawn_file_actions_addchdir_np(3). */
int linux_spawn_change_directory(posix_spawn_file_actions_t *actions, const char *path);
/* prlimit(2): sets both limits of a process. */
int linux_limit(pid_t pid, int resource, uint64_t soft, uint64_t hard);
/* waitid(2): a child that has ended, which stays unreaped; 0 when there is none, -1 on failure. status: its exit code, or
   the signal that ended it. */
pid_t linux_ended_child(int *exited, int *status);
/* signalfd(2), non-blocking and close-on-exec. */
int linux_signal_descriptor(const sigset_t *signals);
/* prctl(2), PR_SET_CHILD_SUBREAPER 1: descendants without a parent become our children. */
int linux_adopt_orphans(void);
/* prctl(2), PR_SET_PDEATHSIG: the signal that we get when our parent ends. */
int linux_end_with_parent(int signal);
/* fork(2), which Swift withholds: right only in a process with one thread. */
pid_t linux_fork(void);

/* The most descriptors that one packet carries. */
#define LINUX_PACKET_DESCRIPTORS 4
/* sendmsg(2) with descriptors (SCM_RIGHTS, unix(7)), without SIGPIPE. */
ssize_t linux_send_packet(int socket, const void *bytes, size_t count, const int *descriptors, int number);
/* recvmsg(2) with room for LINUX_PACKET_DESCRIPTORS descriptors, which are closed on exec. */
ssize_t linux_receive_packet(int socket, void *bytes, size_t count, int *descriptors, int *number);
#endif
