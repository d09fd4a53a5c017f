#ifndef CLINUX_H
#define CLINUX_H
/* What Glibc's module does not show to Swift. Everything is declared here or
   in CLinux.c; no logic. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
/* fd_set's member has another name under _GNU_SOURCE. Glibc's and the other C
   modules show the plain one, and Swift insists that all show the same. */
#include <features.h>
#undef __USE_XOPEN
#include <sys/select.h>
#define __USE_XOPEN 1

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <linux/rtnetlink.h>
#include <spawn.h>
#include <sys/pidfd.h>

/* pipe2(2) with O_CLOEXEC; Glibc's module leaves pipe2 out. */
int linux_pipe_cloexec(int ends[2]);
/* accept4(2) without the peer's address; Glibc hides its first form behind a
   transparent union. */
int linux_accept(int listener);
/* prctl(2) is variadic. */
int linux_forbid_core_dumps(void);
#endif
