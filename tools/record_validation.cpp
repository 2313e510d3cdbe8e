// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the built-in rows and writes what follows from them into the repository: the figures that were reached, the page
// docs/validation.md and the ranges of the confidence label. Run it through scripts/validation.
//
//   record-validation REPOSITORY YEAR-MONTH

#include "core/base/output_file.h"
#include "core/evaluation/validation/validation_report.h"
#include "tools/fits/confidence_fit.h"
#include "tools/fits/reached.h"

#include <iostream>

using namespace trainyard;

namespace {

bool write(const std::string &path, const std::string &text)
{
    const auto written = writeOutputFile(path, [&](std::ostream &out) { out << text; });
    std::cerr << (written ? path : toString(written.error())) << '\n';
    return written.has_value();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::cerr << "usage: record-validation REPOSITORY YEAR-MONTH\n";
        return 2;
    }
    const std::string repository = argv[1];
    const Catalogue &catalogue = builtinCatalogue();
    ValidationRun run = runRows(builtinRows(), catalogue);
    const std::vector<ValidationResult> unmeasured = runRows(builtinRows(), withoutMeasuredKernels(catalogue)).results;
    auto coverage = heldOutCoverage(run.results, run.results, unmeasured);
    const Validation validation = summarised(builtinRows(), std::move(run), builtinGates(), std::move(coverage));
    const std::vector<ValidationResult> &results = validation.run.results;
    const bool isWritten =
        write(repository + "/resources/validation/reached.json", reachedJson(reachedFigures(results)))
        && write(repository + "/resources/catalog/confidence.json",
            confidenceJson(confidenceData(results, unmeasured), argv[2]))
        && write(repository + "/docs/validation.md", validationMarkdown(validation, leftOutRows()));
    return isWritten ? 0 : 2;
}
