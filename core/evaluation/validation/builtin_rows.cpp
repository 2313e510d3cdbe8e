// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/or_abort.h"
#include "core/evaluation/validation/embedded_files.h"
#include "core/evaluation/validation/row_reader_internal.h"
#include "core/evaluation/validation/rows.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Files of resources/validation that hold no rows.
constexpr std::string_view kOtherFiles[] = { "usable.json", "gates.json", "reached.json", "sailor_inputs.json",
    "collectives.json" };

} // namespace

std::string_view embeddedValidationFile(std::string_view name)
{
    const auto files = embeddedValidationFiles();
    const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
    return found == files.end() ? std::string_view() : found->text;
}

const std::vector<RowSet> &builtinRows()
{
    static const std::vector<RowSet> sets = [] {
        std::vector<RowSet> all;
        for (const EmbeddedFile &file : embeddedValidationFiles()) {
            if (std::ranges::find(kOtherFiles, file.name) == std::end(kOtherFiles))
                all.push_back(orAbort(parseRows(file.text, std::string(file.name))));
        }
        std::ranges::stable_sort(all, {}, &RowSet::source);
        return all;
    }();
    return sets;
}

const std::vector<LeftOutRow> &leftOutRows()
{
    static const std::vector<LeftOutRow> rows = [] {
        const std::string_view text = embeddedValidationFile("usable.json");
        return text.empty() ? std::vector<LeftOutRow>() : orAbort(parseLeftOut(text, "usable.json"));
    }();
    return rows;
}

} // namespace trainyard
