// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of jobs: no two of a dozen may be taken for each other, on any theme and by any eye.
#include "tests/support/test_program.h"
#include "tests/views/theme/seen_colors.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class JobColorsTest : public QObject {
    Q_OBJECT

private slots:
    void twelveJobsAreToldApartByEveryEye_data() { addThemes(); }
    void twelveJobsAreToldApartByEveryEye()
    {
        QFETCH(ThemeKind, kind);
        applyTheme(*qApp, kind);
        for (int a = 0; a < kJobColors; ++a) {
            for (int b = 0; b < a; ++b) {
                const Triple first = rgbOf(jobColor(a)), second = rgbOf(jobColor(b));
                QVERIFY2(distance(labOf(first), labOf(second)) >= 30,
                    qPrintable(QStringLiteral("jobs %1 and %2").arg(a).arg(b)));
                for (const bool withoutRed : { false, true })
                    QVERIFY2(distance(labOf(seen(first, withoutRed)), labOf(seen(second, withoutRed))) >= 15,
                        qPrintable(QStringLiteral("jobs %1 and %2, %3").arg(a).arg(b).arg(withoutRed)));
            }
        }
    }

    void everyJobStandsOutFromThePanelAndFromIdleTracks_data() { addThemes(); }
    void everyJobStandsOutFromThePanelAndFromIdleTracks()
    {
        QFETCH(ThemeKind, kind);
        applyTheme(*qApp, kind);
        for (int job = 0; job < kJobColors; ++job)
            for (const QColor &surface : { theme().panel, theme().idle, theme().panelRaised })
                QVERIFY(distance(labOf(rgbOf(jobColor(job))), labOf(rgbOf(surface))) >= 25);
    }

    void theNextDozenIsAnotherShadeOfTheSameHue()
    {
        for (int job = 0; job < kJobColors; ++job) {
            const double apart =
                distance(labOf(rgbOf(jobColor(job, false))), labOf(rgbOf(jobColor(job + kJobColors, false))));
            QVERIFY(apart >= 5);
            QCOMPARE(jobColor(job + 3 * kJobColors, true), jobColor(job, true));
        }
    }

    void inkReadsOnEveryJob_data() { addThemes(); }
    void inkReadsOnEveryJob()
    {
        QFETCH(ThemeKind, kind);
        applyTheme(*qApp, kind);
        for (int job = 0; job < 3 * kJobColors; ++job) {
            // WCAG 2: (L1 + 0.05) / (L2 + 0.05), 3 for large text
            const auto luminance = [](const QColor &c) {
                const Triple rgb = rgbOf(c);
                return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
            };
            const double a = luminance(jobColor(job)) + 0.05, b = luminance(jobInk(job)) + 0.05;
            QVERIFY2(std::max(a, b) / std::min(a, b) >= 3, qPrintable(QString::number(job)));
        }
    }
};

TRAINYARD_TEST(JobColorsTest)
#include "tst_job_colors.moc"
