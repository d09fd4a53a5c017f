// A wall clock of one process's own, for LD_PRELOAD: it is off by the seconds (a 64-bit number in the machine's order)
// that the file named by WALL_CLOCK holds at that moment. The monotonic clocks stay as they are.
//
// libfaketime does the same and more, but adds to the environment before main, and a Swift program then finds no arguments.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t offset(void) {
  static const volatile int64_t *shared;
  if (!shared) {
    const char *path = getenv("WALL_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    void *map = mmap(NULL, sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED) return 0;
    shared = map;
  }
  return *shared;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = syscall(SYS_clock_gettime, clock, now);
  if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise)) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
