// SPDX-License-Identifier: GPL-3.0-or-later
// A job has one colour, in the window and on pages, by day and by night.
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/report_style.h"
#include "tests/support/test_program.h"
#include "views/theme/job_colors.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;

class TstReportColors : public QObject {
    Q_OBJECT

private slots:
    void jobsHaveTheColoursOfTheWindow()
    {
        QCOMPARE(int(markup::kJobLooks), kJobColors);
        const QString style = QString::fromUtf8(jobStyle().data(), qsizetype(jobStyle().size()));
        for (int job = 0; job < kJobColors; ++job) {
            const QString rule = QStringLiteral(".%1 { fill: %2; }");
            const QString name = QString::fromStdString(markup::jobClass(job));
            QVERIFY2(style.section(u'@', 0, 0).contains(rule.arg(name, jobColor(job, false).name())), qPrintable(name));
            QVERIFY2(style.section(u'@', 1).contains(rule.arg(name, jobColor(job, true).name())), qPrintable(name));
        }
    }

    void inkReadsOnThem()
    {
        const auto contrast = [](int job, const QColor &ink) { // WCAG 2.1
            const auto light = [](const QColor &color) {
                const auto part = [](double v) {
                    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
                };
                return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
            };
            const double a = light(jobColor(job, false)) + 0.05, b = light(ink) + 0.05;
            return std::max(a, b) / std::min(a, b);
        };
        for (int job = 0; job < kJobColors; ++job)
            QVERIFY2(contrast(job, markup::isDarkJob(job) ? QColor(0xffffff) : QColor(0x10151c)) >= 3.0,
                qPrintable(QString::number(job)));
    }
};

TRAINYARD_APPLESS_TEST(TstReportColors)
#include "tst_report_colors.moc"
