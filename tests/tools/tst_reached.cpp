// SPDX-License-Identifier: GPL-3.0-or-later
// Figures that were reached are held: one more run that is judged too large for the memory that it ran in is worse.
#include "tests/support/test_program.h"
#include "tools/fits/reached.h"

#include <QTest>

using namespace trainyard;

class TstReached : public QObject {
    Q_OBJECT

private slots:
    void oneMoreRunJudgedTooLargeIsWorse()
    {
        std::vector<ValidationResult> results;
        for (const char *id : { "a", "b", "c" })
            results.push_back({ .source = "s",
                .group = {},
                .id = id,
                .metric = "iteration_time_s",
                .status = RowStatus::Gated,
                .role = RowRole::Test,
                .published = 10,
                .predicted = 12,
                .problem = {},
                .note = {},
                .fits = true });
        const auto before = reachedFigures(results);
        results[0].fits = false;
        QVERIFY(worseThan(before, before).empty());
        QVERIFY(!worseThan(before, reachedFigures(results)).empty());
    }
};

TRAINYARD_APPLESS_TEST(TstReached)
#include "tst_reached.moc"
