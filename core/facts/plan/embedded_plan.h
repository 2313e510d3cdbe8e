#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan inside another file: an HTML report carries it in an element that browsers do not show, a PDF in its metadata.
// The reader of plans finds it there, so that a report opens like the plan it was made of. Any thread.

#include "core/facts/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

/// The plan file's text without <, > and &, which JSON can write as escapes: it stands in HTML and XML as it is.
[[nodiscard]] std::string embeddablePlan(const Plan &plan);
/// Element for an HTML page.
[[nodiscard]] std::string planElement(const Plan &plan);
/// XMP packet for the metadata of a PDF.
[[nodiscard]] std::string planMetadata(const Plan &plan);

/// Whether the content is a page or a PDF rather than a plan file.
[[nodiscard]] bool isPage(std::string_view content);
/// The plan's text inside of a page or PDF; empty where it holds none.
[[nodiscard]] std::optional<std::string_view> planInside(std::string_view page);

/// The plan with the model's shape in it where it names a config.json, which need not be where the page is read.
[[nodiscard]] Plan withModelInside(const Plan &plan, const ModelSpec &model);

} // namespace trainyard
