// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the tables of a page about the plan file anew from the descriptions of the keys. Run it through
// scripts/plan-keys.
//
//   plan-key-tables PAGE

#include "core/base/output_file.h"
#include "core/base/text_file.h"
#include "tools/fits/key_tables.h"

#include <iostream>

using namespace trainyard;

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: plan-key-tables PAGE\n";
        return 2;
    }
    const auto page = readTextFile(argv[1], "the page about the plan file");
    if (!page) {
        std::cerr << toString(page.error()) << '\n';
        return 2;
    }
    const auto written = writeOutputFile(argv[1], [&](std::ostream &out) { out << withKeyTables(*page); });
    if (!written)
        std::cerr << toString(written.error()) << '\n';
    return written ? 0 : 3;
}
