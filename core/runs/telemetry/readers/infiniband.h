#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of what ibnetdiscover and iblinkinfo print of an InfiniBand fabric (telemetry specification 7): a graph of
// switches and adapters, by GUID and by LID.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeIbNetDiscover(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readIbNetDiscover(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeIbLinkInfo(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readIbLinkInfo(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
