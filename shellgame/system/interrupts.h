// The signals that ask the program to end early: SIGINT, SIGTERM, SIGHUP.
#pragma once

namespace shellgame {

// Lets `handler` take them, but for those that were ignored when the program started: `nohup`
// ignores SIGHUP, a shell SIGINT for jobs in the background, and they mean what the user wants.
void handle_interrupts(void (*handler)(int));

// Whether the signal is ignored. This program ignores none of the three by itself, so an ignored
// one was inherited.
bool is_ignored(int signal);

}  // namespace shellgame
