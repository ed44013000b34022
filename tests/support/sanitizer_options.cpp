// What the address sanitizer finds in libraries that are not ours: fontconfig keeps its tables
// until the process ends.
#if defined(__SANITIZE_ADDRESS__)
// The sanitizer's own name for it, called when it starts.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
#endif
