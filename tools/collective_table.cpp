// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the table of published collectives of a page anew from resources/validation/collectives.json and the model.
// Run through scripts/validation.
//
//   collective-table PAGE

#include "core/base/output_file.h"
#include "core/base/text_file.h"
#include "core/evaluation/validation/collective_rows.h"

#include <iostream>

using namespace trainyard;

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: collective-table PAGE\n";
        return 2;
    }
    const auto page = readTextFile(argv[1], "the page about experts");
    if (!page) {
        std::cerr << toString(page.error()) << '\n';
        return 2;
    }
    const auto written = writeOutputFile(argv[1], [&](std::ostream &out) { out << withCollectiveTable(*page); });
    if (!written)
        std::cerr << toString(written.error()) << '\n';
    return written ? 0 : 3;
}
