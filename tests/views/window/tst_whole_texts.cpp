// SPDX-License-Identifier: GPL-3.0-or-later
// In the smallest window that the program is made for, what carries a number or a name can be read whole: the rows of
// what a better part would buy, which name two datacenters and how much of what is bought.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/panels/part_row.h"
#include "views/panels/why_panel.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QFontMetrics>

using namespace trainyard;

namespace {

std::vector<PartRow *> visibleRows(const WhyPanel &why)
{
    std::vector<PartRow *> rows;
    for (PartRow *row : why.findChildren<PartRow *>())
        if (row->isVisible())
            rows.push_back(row);
    return rows;
}

/// What is painted is the whole text, in lines that all lie within the widget. Measured anew from the font.
QString cutPart(const TextLine &line)
{
    const QString shown = line.shown(line.width());
    if (shown.simplified().remove(u' ') != line.text().simplified().remove(u' '))
        return shown;
    const QFontMetrics metrics(line.font());
    int lines = 0;
    for (const QString &part : shown.split(u'\n')) {
        const int wrap = line.hasHeightForWidth() ? Qt::TextWordWrap : 0;
        const QRect needed = metrics.boundingRect(QRect(0, 0, line.width(), 10000), wrap, part);
        if (needed.width() > line.width())
            return part;
        lines += needed.height() / metrics.height();
    }
    return lines * metrics.height() > line.height() ? QStringLiteral("%1 lines: %2").arg(lines).arg(shown) : QString();
}

} // namespace

class WholeTextsTest : public QObject {
    Q_OBJECT

private slots:
    void aBetterPartIsNamedWhole_data()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size : { QSize(1280, 720), QSize(1440, 900), QSize(1920, 1080) })
            QTest::addRow("%d x %d", size.width(), size.height()) << size;
    }

    void aBetterPartIsNamedWhole()
    {
        QFETCH(QSize, size);
        WindowFixture f(QStringLiteral("atlas-three-datacenters"));
        f.window.resize(size);
        const WhyPanel &why = *f.window.workbench().why;
        const auto names = [&](const QString &words) {
            return std::ranges::any_of(
                visibleRows(why), [&](PartRow *row) { return row->nameLine()->text().contains(words); });
        };
        QVERIFY(test::until([&] { return names(QStringLiteral("+1 Gbps per node pair")); }));
        QApplication::processEvents();
        for (PartRow *row : visibleRows(why))
            for (const TextLine *line : { row->nameLine(), row->changeLine(), row->becauseLine() })
                if (line->isVisible())
                    QVERIFY2(cutPart(*line).isEmpty(), qPrintable(line->text() + u'|' + cutPart(*line)));
    }

    void whatIsBoughtBeginsTheSecondLineOfALongName()
    {
        RankedPart part;
        part.part.label = part.part.sentence = "Datacenter 1–Datacenter 2 +1 Gbps per node pair";
        PartRow row(1);
        row.setPart(part, 62.0);
        const QString wide = row.nameLine()->shown(2000), narrow = row.nameLine()->shown(200);
        QCOMPARE(wide, QString::fromStdString(part.part.label));
        QCOMPARE(narrow, QStringLiteral("Datacenter 1–Datacenter 2\n+1 Gbps per node pair"));
    }

    void aNameOfOneLongWordIsBrokenAndNotCut()
    {
        TextLine line(QString(100, u'w'));
        line.setWrapped(true);
        const int wide = line.fontMetrics().horizontalAdvance(line.text()), narrow = wide / 4;
        QCOMPARE(line.heightForWidth(wide + 1), line.fontMetrics().height());
        QVERIFY(line.heightForWidth(narrow) >= 4 * line.fontMetrics().height());
    }
};

TRAINYARD_TEST(WholeTextsTest)
#include "tst_whole_texts.moc"
