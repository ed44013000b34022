// One page for one or several runs: what was asked, how training went, what evaluation and probes
// found, where it ran, which commands made it. A single file without any reference to another one;
// the same runs give the same bytes. It is also well-formed XML.
#pragma once

#include <string>
#include <vector>

#include "shellgame/report/run_groups.h"
#include "shellgame/report/run_record.h"

namespace shellgame {

// `command` is what made the page.
std::string html_page(const std::vector<RunRecord>& runs, const std::string& command);

// Its sections, without their headings; "" for what the runs do not have.
std::string overview_section(const std::vector<RunGroup>& groups);
std::string training_section(const std::vector<RunGroup>& groups);
std::string evaluation_section(const std::vector<RunGroup>& groups);
std::string probes_section(const std::vector<RunGroup>& groups);
std::string configuration_section(const std::vector<RunRecord>& runs,
                                  const std::vector<RunGroup>& groups);
std::string environment_section(const std::vector<RunGroup>& groups);
std::string commands_section(const std::vector<RunGroup>& groups, const std::string& command);

}  // namespace shellgame
