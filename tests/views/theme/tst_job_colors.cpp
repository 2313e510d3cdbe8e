// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of jobs: no two of a dozen may be taken for each other, on any theme and by any eye.
#include "tests/support/test_program.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QTest>

#include <array>
#include <cmath>

using namespace trainyard;

namespace {

using Triple = std::array<double, 3>;

double linear(double channel)
{
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

Triple rgbOf(const QColor &c)
{
    return { linear(c.redF()), linear(c.greenF()), linear(c.blueF()) };
}

/// CIE L*a*b* of linear sRGB under D65 (CIE 15).
Triple labOf(const Triple &rgb)
{
    const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
    const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047),
                 y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]),
                 z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883);
    return { 116 * y - 16, 500 * (x - y), 200 * (y - z) };
}

/// About 2.3 is just noticeable.
double distance(const Triple &a, const Triple &b)
{
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// Without the cones for red or for green (Viénot, Brettel, Mollon 1999, linear RGB).
Triple seen(const Triple &c, bool withoutRed)
{
    if (withoutRed)
        return { 0.11238 * c[0] + 0.88762 * c[1], 0.11238 * c[0] + 0.88762 * c[1],
            0.00401 * c[0] - 0.00401 * c[1] + c[2] };
    return { 0.29275 * c[0] + 0.70725 * c[1], 0.29275 * c[0] + 0.70725 * c[1],
        -0.02234 * c[0] + 0.02234 * c[1] + c[2] };
}

} // namespace

class JobColorsTest : public QObject {
    Q_OBJECT

private slots:
    void themes_data()
    {
        QTest::addColumn<ThemeKind>("kind");
        QTest::newRow("light") << ThemeKind::Light;
        QTest::newRow("dark") << ThemeKind::Dark;
        QTest::newRow("high contrast") << ThemeKind::HighContrast;
    }

    void twelveJobsAreToldApartByEveryEye_data() { themes_data(); }
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

    void everyJobStandsOutFromThePanelAndFromIdleTracks_data() { themes_data(); }
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

    void inkReadsOnEveryJob_data() { themes_data(); }
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
