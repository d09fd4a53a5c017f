#include "recording_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 16, MAX_NAME = 256 };

typedef struct {
  recording_step step;
  void *bytes;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *root;
static sqlite3_vfs recorder;
static char folder[MAX_NAME];
static char names[MAX_FILES][MAX_NAME];
static int name_count;
static entry *entries;
static long entry_count, entry_room;
static int fail_after = -1;

/* Our file, followed by the system's. */
typedef struct {
  sqlite3_file base;
  int number;
  sqlite3_file *real;
} recorded_file;

static sqlite3_file *real(sqlite3_file *file) {
  return ((recorded_file *)file)->real;
}

/* The number of a path that is recorded; -1 for others. Called with the lock. */
static int number_of(const char *path) {
  size_t length = strlen(folder);
  if (!path || !length || strncmp(path, folder, length)) return -1;
  const char *name = path + length;
  size_t ending = strlen(name);
  if (ending >= MAX_NAME || (ending > 4 && !strcmp(name + ending - 4, "-shm")))
    return -1;
  for (int i = 0; i < name_count; i++)
    if (!strcmp(names[i], name)) return i;
  if (name_count == MAX_FILES) abort();
  strcpy(names[name_count], name);
  return name_count++;
}

/* Called with the lock. */
static void add(enum recording_kind kind, int file, const void *bytes,
                long long offset, long long length) {
  if (entry_count == entry_room) {
    entry_room = entry_room ? 2 * entry_room : 1024;
    entries = realloc(entries, (size_t)entry_room * sizeof *entries);
    if (!entries) abort();
  }
  entry *new = &entries[entry_count++];
  new->step = (recording_step){kind, file, offset, length};
  new->bytes = NULL;
  if (bytes) {
    new->bytes = malloc((size_t)length);
    if (!new->bytes) abort();
    memcpy(new->bytes, bytes, (size_t)length);
  }
}

static void record(sqlite3_file *file, enum recording_kind kind,
                   const void *bytes, long long offset, long long length) {
  int number = ((recorded_file *)file)->number;
  if (number < 0) return;
  pthread_mutex_lock(&lock);
  if (folder[0]) add(kind, number, bytes, offset, length);
  pthread_mutex_unlock(&lock);
}

static int close_file(sqlite3_file *f) {
  return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK;
}
static int read_file(sqlite3_file *f, void *to, int n, sqlite3_int64 at) {
  return real(f)->pMethods->xRead(real(f), to, n, at);
}
static int write_file(sqlite3_file *f, const void *from, int n,
                      sqlite3_int64 at) {
  int code = real(f)->pMethods->xWrite(real(f), from, n, at);
  if (code == SQLITE_OK) record(f, RECORDING_WRITE, from, at, n);
  return code;
}
static int truncate_file(sqlite3_file *f, sqlite3_int64 size) {
  int code = real(f)->pMethods->xTruncate(real(f), size);
  if (code == SQLITE_OK) record(f, RECORDING_TRUNCATE, NULL, size, 0);
  return code;
}
static int sync_file(sqlite3_file *f, int flags) {
  int fails = 0;
  if (((recorded_file *)f)->number >= 0) {
    pthread_mutex_lock(&lock);
    fails = fail_after == 0;
    if (fail_after >= 0) fail_after--;
    pthread_mutex_unlock(&lock);
  }
  if (fails) return SQLITE_IOERR_FSYNC;
  int code = real(f)->pMethods->xSync(real(f), flags);
  if (code == SQLITE_OK) record(f, RECORDING_SYNC, NULL, 0, 0);
  return code;
}
static int size_of_file(sqlite3_file *f, sqlite3_int64 *size) {
  return real(f)->pMethods->xFileSize(real(f), size);
}
static int lock_file(sqlite3_file *f, int level) {
  return real(f)->pMethods->xLock(real(f), level);
}
static int unlock_file(sqlite3_file *f, int level) {
  return real(f)->pMethods->xUnlock(real(f), level);
}
static int check_lock(sqlite3_file *f, int *out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
static int control(sqlite3_file *f, int op, void *argument) {
  return real(f)->pMethods->xFileControl(real(f), op, argument);
}
static int sector_size(sqlite3_file *f) {
  return real(f)->pMethods->xSectorSize(real(f));
}
static int characteristics(sqlite3_file *f) {
  return real(f)->pMethods->xDeviceCharacteristics(real(f));
}
static int shm_map(sqlite3_file *f, int page, int size, int extend,
                   void volatile **out) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
static int shm_lock(sqlite3_file *f, int offset, int n, int flags) {
  return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
static void shm_barrier(sqlite3_file *f) {
  real(f)->pMethods->xShmBarrier(real(f));
}
static int shm_unmap(sqlite3_file *f, int delete) {
  return real(f)->pMethods->xShmUnmap(real(f), delete);
}

/* Version 2: no memory-mapped files, whose writes nobody would see. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file,
                     int flags, int *out) {
  (void)vfs;
  recorded_file *mine = (recorded_file *)file;
  mine->base.pMethods = NULL;
  mine->real = (sqlite3_file *)(mine + 1);
  mine->real->pMethods = NULL;
  int is_there = 0;
  if (path) root->xAccess(root, path, SQLITE_ACCESS_EXISTS, &is_there);
  int code = root->xOpen(root, path, mine->real, flags, out);
  if (code != SQLITE_OK) return code;
  pthread_mutex_lock(&lock);
  mine->number = number_of(path);
  if (mine->number >= 0 && !is_there) add(RECORDING_CREATE, mine->number, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  mine->base.pMethods = &methods;
  return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  (void)vfs;
  int code = root->xDelete(root, path, sync_folder);
  if (code != SQLITE_OK) return code;
  pthread_mutex_lock(&lock);
  int number = number_of(path);
  if (number >= 0) add(RECORDING_DELETE, number, NULL, 0, sync_folder ? 1 : 0);
  pthread_mutex_unlock(&lock);
  return code;
}

static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *out) {
  (void)vfs;
  return root->xAccess(root, path, flags, out);
}
static int full_path(sqlite3_vfs *vfs, const char *path, int n, char *out) {
  (void)vfs;
  return root->xFullPathname(root, path, n, out);
}

int recording_register(void) {
  root = sqlite3_vfs_find(NULL);
  if (!root) return SQLITE_ERROR;
  if (root == &recorder) abort();
  recorder = *root;
  recorder.zName = "recording";
  recorder.szOsFile = root->szOsFile + (int)sizeof(recorded_file);
  recorder.pNext = NULL;
  recorder.xOpen = open_file;
  recorder.xDelete = delete_file;
  recorder.xAccess = access_file;
  recorder.xFullPathname = full_path;
  return sqlite3_vfs_register(&recorder, 1);
}

void recording_start(const char *path) {
  pthread_mutex_lock(&lock);
  if (strlen(path) >= MAX_NAME) abort();
  for (long i = 0; i < entry_count; i++) free(entries[i].bytes);
  entry_count = 0;
  name_count = 0;
  fail_after = -1;
  strcpy(folder, path);
  pthread_mutex_unlock(&lock);
}

void recording_stop(void) {
  pthread_mutex_lock(&lock);
  folder[0] = 0;
  fail_after = -1;
  pthread_mutex_unlock(&lock);
}

long recording_count(void) {
  pthread_mutex_lock(&lock);
  long count = entry_count;
  pthread_mutex_unlock(&lock);
  return count;
}

recording_step recording_get(long step) {
  pthread_mutex_lock(&lock);
  recording_step found = entries[step].step;
  pthread_mutex_unlock(&lock);
  return found;
}

void recording_bytes(long step, void *to) {
  pthread_mutex_lock(&lock);
  memcpy(to, entries[step].bytes, (size_t)entries[step].step.length);
  pthread_mutex_unlock(&lock);
}

const char *recording_name(int file) {
  return file < name_count ? names[file] : NULL;
}

void recording_fail_sync(int after) {
  pthread_mutex_lock(&lock);
  fail_after = after;
  pthread_mutex_unlock(&lock);
}
