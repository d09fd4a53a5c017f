#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H
#include <malloc.h>
#include <sqlite3.h>

/* What Swift cannot import: a destructor that is a cast integer, and
   variadic functions. No logic. */

/* An empty Swift buffer may have no address; to SQLite that would mean NULL. */
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index,
                                    const char *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text ? text : "", length,
                             SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* Before the first connection: no count of allocations, and so no lock around
   each. */
static inline int csqlite_configure(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* What the allocator keeps of freed memory goes back to the system. */
static inline void csqlite_trim_heap(void) { malloc_trim(0); }

static inline int csqlite_db_config(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}

#endif
