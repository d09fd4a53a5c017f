#ifndef CLINUX_H
#define CLINUX_H
/* What Glibc's module does not show to Swift: GNU extensions, variadic functions,
   headers it leaves out. No logic.

   No feature macro is defined here and no GNU header included: every C module
   carries its own copy of libc's declarations, and Swift insists that all copies
   are the same. What needs _GNU_SOURCE is behind a function in CLinux.c. */
#include <linux/rtnetlink.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/types.h>

/* Enumerations of libc that not every build shows. */
extern const int LINUX_SOCK_STREAM;
extern const int LINUX_SOCK_RAW;
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
#endif
