// What the sanitizers find in libraries that are not ours: fontconfig keeps its tables until the
// process ends, and fills them in a thread of its own whose locks, not being compiled with the
// sanitizer, it does not see.
#if defined(__SANITIZE_ADDRESS__)
// The names are the sanitizers' own; they are called when a program starts.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
#elif defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:libfontconfig\nrace:libglib-2.0\nrace:libpango\n";
}
#endif
