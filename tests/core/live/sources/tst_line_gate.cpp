// SPDX-License-Identifier: GPL-3.0-or-later
// What passes of a stream that is paused and goes on: whole lines, however the bytes are cut.

#include "core/live/sources/line_gate.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>
#include <string>

using namespace trainyard::live;

class TstLineGate : public QObject {
    Q_OBJECT

private slots:
    void openItPassesEverything()
    {
        LineGate gate;
        for (const std::string_view part : { "ab", "c\nde", "\n", "", "f" })
            QCOMPARE(gate.passed(part, false), part);
    }

    void theLineThatWasBegunIsFinishedAndTheOneOpenAtTheEndIsLetGo()
    {
        LineGate gate;
        QCOMPARE(gate.passed("one", false), std::string_view("one"));
        QCOMPARE(gate.passed(" more", true), std::string_view(" more"));
        QCOMPARE(gate.passed(" end\ntwo\nthr", true), std::string_view(" end\n"));
        QCOMPARE(gate.passed("ee", false), std::string_view());
        QCOMPARE(gate.passed(" end\nfour\nfi", false), std::string_view("four\nfi"));
    }

    void howeverItIsCutAndPausedOnlyWholeLinesPass()
    {
        std::mt19937 random(7);
        for (int round = 0; round < 2'000; ++round) {
            std::string text;
            for (int line = 0; line < 20; ++line)
                text += std::string(random() % 6, static_cast<char>('a' + line)) + '\n';
            LineGate gate;
            std::string passed;
            bool isClosed = false;
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t size = std::min<std::size_t>(text.size() - at, 1 + random() % 9);
                passed += gate.passed(std::string_view(text).substr(at, size), isClosed);
                at += size;
                if (random() % 3 == 0)
                    isClosed = !isClosed;
            }
            // Each line that passed is one of the text, whole and in order; the last may still be open.
            std::size_t from = 0;
            for (std::size_t begin = 0; begin < passed.size();) {
                const std::size_t end = passed.find('\n', begin);
                QVERIFY(end != std::string::npos);
                const std::string line = '\n' + passed.substr(begin, end + 1 - begin);
                const std::size_t found = ('\n' + text).find(line, from);
                QVERIFY2(found != std::string::npos, line.c_str());
                from = found + line.size() - 1;
                begin = end + 1;
            }
        }
    }
};

TRAINYARD_GUILESS_TEST(TstLineGate)
#include "tst_line_gate.moc"
