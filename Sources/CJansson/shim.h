#ifndef CJANSSON_SHIM_H
#define CJANSSON_SHIM_H
#include <jansson.h>

/* The text is an array inside the struct, which Swift would import as a tuple of 160 elements. */
static inline const char *cjansson_error_text(const json_error_t *error) { return error->text; }
#endif
