// SPDX-License-Identifier: GPL-3.0-or-later
// Lines come whole wherever blocks end; what unfinished ones hold is bounded, each and all together.
#include "core/live/decoders/line_splitter.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <memory>
#include <string>
#include <vector>

using namespace trainyard::live;

class LineSplitterTest : public QObject {
    Q_OBJECT
private slots:
    void linesComeWholeWhereverTheyAreCut()
    {
        const std::string text = "one\n\ntwo three\n" + std::string(1'000, 'x') + "\nlast";
        for (std::size_t block = 1; block < 40; ++block) {
            LineSplitter splitter(10'000);
            std::vector<std::string> lines;
            const auto take = [&](char *line, std::size_t size) {
                lines.emplace_back(line, size);
                return true;
            };
            for (std::size_t at = 0; at < text.size(); at += block)
                splitter.take(std::string_view(text).substr(at, block), take);
            splitter.end(take);
            QCOMPARE(lines, (std::vector<std::string> { "one", "", "two three", std::string(1'000, 'x'), "last" }));
        }
    }

    void manyLongLinesTogetherAreBounded()
    {
        // 256 MiB of all, 4 MiB each: 64 find room, further ones are dropped up to their end, which comes as a line.
        constexpr std::size_t kLine = std::size_t(4) << 20;
        const std::string line(kLine, 'x');
        std::vector<std::unique_ptr<LineSplitter>> all;
        const auto ignore = [](char *, std::size_t) { return true; };
        std::int64_t dropped = 0;
        for (int i = 0; i < 80; ++i) {
            all.push_back(std::make_unique<LineSplitter>(kLine));
            all.back()->take(line, ignore);
            dropped += all.back()->takeLongLines();
        }
        QCOMPARE(dropped, 80 - LineSplitter::kMostOfAll / std::int64_t(kLine));
        all.resize(10); // those that end give their room back
        all.push_back(std::make_unique<LineSplitter>(kLine));
        all.back()->take(line, ignore);
        QCOMPARE(all.back()->takeLongLines(), 0);
        int lines = 0;
        all.back()->take("\nnext\n", [&](char *, std::size_t) {
            ++lines;
            return true;
        });
        QCOMPARE(lines, 2);
    }
};

TRAINYARD_APPLESS_TEST(LineSplitterTest)
#include "tst_line_splitter.moc"
