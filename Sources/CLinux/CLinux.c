#define _GNU_SOURCE 1
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const int LINUX_SOCK_STREAM = SOCK_STREAM;
const int LINUX_SOCK_RAW = SOCK_RAW;
const int LINUX_SOCK_SEQPACKET = SOCK_SEQPACKET;
const int LINUX_SOCK_NONBLOCK = SOCK_NONBLOCK;
const int LINUX_SOCK_CLOEXEC = SOCK_CLOEXEC;

const int LINUX_RLIMIT_CPU = RLIMIT_CPU;
const int LINUX_RLIMIT_DATA = RLIMIT_DATA;
const int LINUX_RLIMIT_NPROC = RLIMIT_NPROC;

int linux_pipe_cloexec(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int linux_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int linux_peer(int descriptor, uid_t *user, pid_t *process) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
  *user = peer.uid;
  *process = peer.pid;
  return 0;
}

int linux_open_beneath(int folder, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned)flags | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  // glibc has no function for it.
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int linux_memory_file(void) { return memfd_create("xmppbotd", MFD_CLOEXEC); }

ssize_t linux_send_descriptor(int socket, const void *bytes, size_t count, int descriptor) {
  struct iovec part = {(void *)bytes, count};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t linux_receive_descriptor(int socket, void *bytes, size_t count, int *descriptor) {
  struct iovec part = {bytes, count};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *descriptor = -1;
  ssize_t result = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (result < 0) return result;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    /* The kernel closes what there is no room for. */
    memcpy(descriptor, CMSG_DATA(header), sizeof(int));
  }
  return result;
}

int linux_forbid_core_dumps(void) { return prctl(PR_SET_DUMPABLE, 0); }

int linux_pidfd_open(pid_t pid) { return pidfd_open(pid, 0); }

int linux_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int linux_spawn_change_directory(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

int linux_limit(pid_t pid, int resource, uint64_t soft, uint64_t hard) {
  struct rlimit limit = {soft, hard};
  return prlimit(pid, resource, &limit, NULL);
}

pid_t linux_ended_child(int *exited, int *status) {
  siginfo_t child = {0};
  if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0) return -1;
  *exited = child.si_code == CLD_EXITED;
  *status = child.si_status;
  return child.si_pid;
}

int linux_signal_descriptor(const sigset_t *signals) {
  return signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int linux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }

int linux_end_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

pid_t linux_fork(void) { return fork(); }

ssize_t linux_send_packet(
    int socket, const void *bytes, size_t count, const int *descriptors, int number) {
  struct iovec part = {(void *)bytes, count};
  union {
    char bytes[CMSG_SPACE(LINUX_PACKET_DESCRIPTORS * sizeof(int))];
    struct cmsghdr alignment;
  } control = {{0}};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (number > LINUX_PACKET_DESCRIPTORS) return errno = EINVAL, -1;
  if (number > 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(number * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(number * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, number * sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t linux_receive_packet(int socket, void *bytes, size_t count, int *descriptors, int *number) {
  struct iovec part = {bytes, count};
  union {
    char bytes[CMSG_SPACE(LINUX_PACKET_DESCRIPTORS * sizeof(int))];
    struct cmsghdr alignment;
  } control = {{0}};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  *number = 0;
  ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    *number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(descriptors, CMSG_DATA(header), *number * sizeof(int));
  }
  return received;
}
