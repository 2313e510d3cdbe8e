// SPDX-License-Identifier: GPL-3.0-or-later
// Who works on which rows: in any order of coming and going, every row is written once, in order, from bounded memory.
#include "core/planner/sweep/sweep_board.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;

namespace {

/// One character a row, so that the text is its own proof.
SweepChunk done(SweepRange range)
{
    SweepChunk chunk { range, { range.count, 0, 0 }, {} };
    for (std::uint64_t row = range.first; row < range.first + range.count; ++row)
        chunk.lines += char('a' + row % 26);
    return chunk;
}

std::string expected(std::uint64_t first, std::uint64_t end)
{
    return done({ first, end - first }).lines;
}

} // namespace

class TstSweepBoard : public QObject {
    Q_OBJECT

private slots:
    void rowsAreWrittenInOrderWhateverComesFirst()
    {
        for (unsigned seed = 0; seed < 50; ++seed) {
            std::mt19937 random(seed);
            std::string written;
            SweepBoard board(37, 2000, 3, [&](std::string_view lines) {
                written += lines;
                return Expected<void>();
            });
            std::vector<std::pair<int, SweepRange>> under;
            std::uint64_t most = 0;
            while (!board.isComplete()) {
                const int who = int(random() % 3);
                if (const auto range = random() % 2 ? board.deal(who) : std::nullopt) {
                    under.emplace_back(who, *range);
                    most = std::max(most, range->first + range->count - board.written());
                } else if (!under.empty()) {
                    const std::size_t i = random() % under.size();
                    QVERIFY(board.take(done(under[i].second)));
                    under.erase(under.begin() + std::ptrdiff_t(i));
                }
            }
            QCOMPARE(written, expected(37, 2000));
            QCOMPARE(board.counts().all(), 2000u - 37u);
            // Four workers at least × 16 ranges × 32 rows, and the range that reaches beyond
            QVERIFY2(most <= 4 * 16 * 32 + 32, std::to_string(most).c_str());
        }
    }

    void whatALostWorkerHadIsDealtAgain()
    {
        std::string written;
        SweepBoard board(0, 100, 2, [&](std::string_view lines) {
            written += lines;
            return Expected<void>();
        });
        const auto lost = board.deal(1), other = board.deal(2);
        QCOMPARE(board.lose(1), lost->count);
        QCOMPARE(board.lose(1), 0u);
        QVERIFY(*board.deal(2) == *lost);
        QVERIFY(board.take(done(*lost)));
        QVERIFY(board.take(done(*other)));
        QVERIFY(board.take(done(*lost))); // it was alive after all
        while (const auto range = board.deal(2))
            QVERIFY(board.take(done(*range)));
        QVERIFY(board.isComplete());
        QCOMPARE(written, expected(0, 100));
        QCOMPARE(board.counts().all(), 100u);
    }

    void aSlowRowHoldsOthersBackInsteadOfFillingMemory()
    {
        SweepBoard board(0, 1'000'000, 2, [](std::string_view) { return Expected<void>(); });
        const auto slow = board.deal(0);
        std::uint64_t rows = 0;
        while (const auto range = board.deal(1)) {
            QVERIFY(board.take(done(*range)));
            rows += range->count;
        }
        QVERIFY2(rows <= 4 * 16 * 32, std::to_string(rows).c_str());
        QCOMPARE(board.written(), 0u);
        QVERIFY(board.take(done(*slow)));
        QCOMPARE(board.written(), rows + slow->count);
        QVERIFY(board.deal(1).has_value());
    }

    void aFileThatCannotBeWrittenIsTold()
    {
        SweepBoard board(0, 10, 1, [](std::string_view) {
            return Expected<void>(std::unexpected(Error { ErrorCode::CannotWrite, "rows.csv", "no space left", {} }));
        });
        QVERIFY(!board.take(done(*board.deal(0))));
    }

    void aShortSweepIsSharedOutToo()
    {
        SweepBoard board(0, 16, 2, [](std::string_view) { return Expected<void>(); });
        QCOMPARE(board.deal(0)->count, 1u);
        SweepBoard none(16, 16, 2, [](std::string_view) { return Expected<void>(); });
        QVERIFY(none.isComplete());
        QVERIFY(!none.deal(0));
    }
};

TRAINYARD_APPLESS_TEST(TstSweepBoard)
#include "tst_sweep_board.moc"
