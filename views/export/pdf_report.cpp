// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/export/pdf_report.h"

#include "core/base/output_file.h"
#include "views/export/svg_object.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QCoreApplication>
#include <QFontInfo>
#include <QFontMetricsF>
#include <QLocale>
#include <QPainter>
#include <QPdfWriter>
#include <QTextBlock>
#include <QTextDocument>

#include <cmath>

namespace trainyard {

namespace {

constexpr int kDotsPerInch = 288; // positions are rounded to these; glyphs and lines are vectors
constexpr double kDotsPerPoint = kDotsPerInch / 72.0;
constexpr double kMargin = 40 * kDotsPerPoint, kFooter = 18 * kDotsPerPoint;
constexpr int kTilesPerRow = 4;

QString tr(const char *text)
{
    return QCoreApplication::translate("PdfReport", text);
}

QFont paperFont(double points)
{
    QFont font(QStringList { QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans") });
    font.setPointSizeF(points);
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
}

const char *const kPaperStyle = R"(
h1 { font-size: 17pt; font-weight: 600; margin: 0; } h3 { font-size: 10.5pt; font-weight: 600; margin: 14px 0 5px 0; } p { margin: 3px 0 5px 0; }
p, li, td, th { color: #1b2330; } .muted { color: #566273; } .bad { color: #c02b2b; } .good { color: #0f7b45; } .warning { color: #9a5b00; }
.label { color: #566273; font-size: 7.5pt; } .value { font-size: 13pt; font-weight: 600; } .note { color: #566273; font-size: 7.5pt; }
table { border-collapse: collapse; } th { color: #566273; font-size: 7pt; font-weight: 400; } td { font-size: 7.5pt; }
.legend { color: #566273; font-size: 7.5pt; }
)";

QString tiles(const ReportPieces &pieces)
{
    QString rows;
    for (std::size_t i = 0; i < pieces.tiles.size(); ++i) {
        const ReportPieces::Tile &tile = pieces.tiles[i];
        rows += (i % kTilesPerRow == 0 ? QStringLiteral("<tr>") : QString())
            + QStringLiteral("<td width=\"25%\"><span class=\"label\">%1</span><br><span "
                             "class=\"value\">%2</span><br><span class=\"note\">%3</span></td>")
                  .arg(tile.label.toHtmlEscaped(), tile.value.toHtmlEscaped(), tile.note.toHtmlEscaped())
            + (i % kTilesPerRow == kTilesPerRow - 1 ? QStringLiteral("</tr>") : QString());
    }
    return QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"4\" border=\"0\">%1</table>")
        .arg(rows);
}

/// Tables fill the page; numbers stand at the right, as on the HTML page.
QString forPaper(QString html)
{
    html.replace(QStringLiteral("<table>"),
        QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"2\" border=\"0\">"));
    html.replace(QStringLiteral("<td"), QStringLiteral("<td align=\"right\""))
        .replace(QStringLiteral("<th"), QStringLiteral("<th align=\"right\""));
    html.replace(QStringLiteral("<tr><td align=\"right\""), QStringLiteral("<tr><td"))
        .replace(QStringLiteral("<tr><th align=\"right\""), QStringLiteral("<tr><th align=\"left\""));
    html.replace(QStringLiteral("<div class=\"legend\">"), QStringLiteral("<p class=\"legend\">"))
        .replace(QStringLiteral("</span></div>"), QStringLiteral("</span></p>"));
    return html.replace(QStringLiteral("</span><span>"), QStringLiteral("</span> &nbsp; <span>"));
}

QString pageText(const ReportPieces &pieces, SvgObject &pictures)
{
    QString html = QStringLiteral("<h1>%1</h1><p class=\"muted\">%2</p>")
                       .arg(pieces.title.toHtmlEscaped(), pieces.subtitle.toHtmlEscaped());
    if (!pieces.notes.isEmpty())
        html += QStringLiteral("<p>%1</p>").arg(pieces.notes.toHtmlEscaped());
    html += tiles(pieces);
    if (!pieces.isFeasible)
        html += QStringLiteral("<p class=\"bad\">%1</p>").arg(tr("not feasible"));
    if (!pieces.confidence.isEmpty())
        html += QStringLiteral("<p class=\"muted\">%1</p>").arg(pieces.confidence.toHtmlEscaped());
    for (const ReportPieces::Card &card : pieces.cards)
        html +=
            QStringLiteral("<h3>%1</h3>").arg(card.title.toHtmlEscaped()) + pictures.withPictures(forPaper(card.html));
    return html;
}

double top(const QTextDocument &document, const QTextBlock &block)
{
    return document.documentLayout()->blockBoundingRect(block).top();
}

/// A heading never ends a page: it goes to the next one with what it stands above.
void keepHeadingsWithWhatFollows(QTextDocument &document)
{
    const double page = document.pageSize().height();
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        const QTextBlock next = block.next();
        if (block.blockFormat().headingLevel() != 3 || !next.isValid())
            continue;
        const double end = document.documentLayout()->blockBoundingRect(next).bottom();
        if (std::floor(top(document, block) / page) == std::floor((end - 1) / page))
            continue;
        QTextBlockFormat format = block.blockFormat();
        format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        QTextCursor(block).setBlockFormat(format);
    }
}

void drawPages(QPainter &painter, QPdfWriter &pdf, QTextDocument &document, const QString &title)
{
    const QSizeF page = document.pageSize();
    const int pages = document.pageCount();
    const QFont small = paperFont(7.5);
    for (int p = 0; p < pages; ++p) {
        if (p > 0)
            pdf.newPage();
        painter.save();
        painter.translate(kMargin, kMargin - p * page.height());
        QAbstractTextDocumentLayout::PaintContext context;
        context.clip = QRectF(0, p * page.height(), page.width(), page.height());
        context.palette.setColor(QPalette::Text, QColor(QStringLiteral("#1b2330")));
        painter.setClipRect(context.clip);
        document.documentLayout()->draw(&painter, context);
        painter.restore();
        painter.setFont(small);
        painter.setPen(QColor(QStringLiteral("#566273")));
        const QRectF footer(kMargin, kMargin + page.height() + kFooter / 2, page.width(), kFooter);
        const QString number = tr("%1 of %2").arg(p + 1).arg(pages);
        const double room = page.width() - QFontMetricsF(small, &pdf).horizontalAdvance(number) - kFooter;
        painter.drawText(
            footer, Qt::AlignLeft | Qt::AlignTop, QFontMetricsF(small, &pdf).elidedText(title, Qt::ElideRight, room));
        painter.drawText(footer, Qt::AlignRight | Qt::AlignTop, number);
    }
}

} // namespace

QPageSize paperOfThisCountry()
{
    const bool usesInches = QLocale::system().measurementSystem() == QLocale::ImperialUSSystem;
    return QPageSize(usesInches ? QPageSize::Letter : QPageSize::A4);
}

QByteArray pdfReport(const ReportPieces &pieces, const QPageSize &paper)
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    {
        QPdfWriter pdf(&bytes);
        pdf.setResolution(kDotsPerInch);
        pdf.setPageSize(paper);
        pdf.setPageMargins({});
        pdf.setTitle(pieces.title);
        pdf.setCreator(QStringLiteral("Trainyard"));
        pdf.setDocumentXmpMetadata(pieces.metadata);
        pdf.addFileAttachment(QStringLiteral("plan.trainyard.json"), pieces.plan, QStringLiteral("application/json"));
        const QSizeF page(pdf.width() - 2 * kMargin, pdf.height() - 2 * kMargin - kFooter);

        SvgObject pictures(pieces.style, QFontInfo(paperFont(8)).family(), page, kDotsPerPoint);
        QTextDocument document;
        document.setUndoRedoEnabled(false);
        document.documentLayout()->setPaintDevice(&pdf);
        document.documentLayout()->registerHandler(QTextFormat::ImageObject, &pictures);
        document.setDefaultFont(paperFont(8.5));
        document.setUseDesignMetrics(true);
        document.setDocumentMargin(0);
        document.setIndentWidth(10 * kDotsPerPoint);
        document.setDefaultStyleSheet(QString::fromLatin1(kPaperStyle));
        document.setHtml(pageText(pieces, pictures));
        document.setPageSize(page);
        keepHeadingsWithWhatFollows(document);
        QPainter painter;
        if (!painter.begin(&pdf))
            return {};
        drawPages(painter, pdf, document, pieces.title);
        painter.end();
    }
    return bytes.data();
}

Expected<void> writePdfReport(const EvaluationPtr &evaluation, const QString &name, const QString &path)
{
    const QByteArray pdf = pdfReport(reportPieces(evaluation, name), paperOfThisCountry());
    if (pdf.isEmpty())
        return std::unexpected(
            Error { ErrorCode::CannotWrite, path.toStdString(), "no PDF could be made of this report", {} });
    return writeOutputFile(
        path.toStdString(), [&](std::ostream &out) { out.write(pdf.constData(), pdf.size()); },
        OutputKinds::RegularOnly);
}

} // namespace trainyard
