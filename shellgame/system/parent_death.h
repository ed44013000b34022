// A program that starts itself again, and whose children must not outlive it, not even after
// `kill -9`.
#pragma once

namespace shellgame {

// In the parent, before it has threads: children that call end_with_parent() end with it. A child's
// parent is the thread that started it: it must not end before the child does.
void take_children_along();

// At the start of a program: if its parent wants to take it along, it gets SIGTERM when that ends.
void end_with_parent();

}  // namespace shellgame
