#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
/* Variadic functions are out of Swift's reach: one function for each kind of argument. No logic. */
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

typedef size_t (*ccurl_transfer)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_long(CURL *curl, CURLoption option, long value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode ccurl_set_offset(CURL *curl, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode ccurl_set_string(CURL *curl, CURLoption option, const char *value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode ccurl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *curl, CURLoption option, void *value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode ccurl_set_transfer(CURL *curl, CURLoption option, ccurl_transfer value) {
  return curl_easy_setopt(curl, option, value);
}
static inline CURLcode ccurl_get_long(CURL *curl, CURLINFO info, long *value) {
  return curl_easy_getinfo(curl, info, value);
}
#endif
