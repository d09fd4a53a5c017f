#ifndef RECORDING_VFS_H
#define RECORDING_VFS_H

/* A VFS of SQLite (https://www.sqlite.org/vfs.html) that does what the system's
   does and writes down what reaches the files of one folder, so that a test can
   make of it what a power cut would have left. For one test at a time. */

enum recording_kind {
  RECORDING_CREATE,
  RECORDING_WRITE,
  RECORDING_TRUNCATE,
  RECORDING_SYNC,
  RECORDING_DELETE
};

typedef struct {
  enum recording_kind kind;
  /* Which file, by recording_name. */
  int file;
  /* Of a write; of a truncation the new size. */
  long long offset;
  /* Of a write; of a deletion 1 if the folder was synced after it. */
  long long length;
} recording_step;

/* Makes it the default for connections that are opened from now on. */
int recording_register(void);
/* Forgets what was recorded, and records files whose path begins with folder,
   which ends with a slash. */
void recording_start(const char *folder);
void recording_stop(void);

long recording_count(void);
recording_step recording_get(long step);
/* The bytes of a write. */
void recording_bytes(long step, void *to);
/* The file's name in the folder; NULL when there is no such file. */
const char *recording_name(int file);

/* The sync after so many more fails; a negative number: none does. */
void recording_fail_sync(int after);

#endif
