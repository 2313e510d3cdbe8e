// SPDX-License-Identifier: GPL-3.0-or-later
// The report on paper: pages of the asked size, pictures as vectors, the plan inside.
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/embedded_plan.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"
#include "views/export/pdf_report.h"
#include "views/export/svg_object.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTest>
#include <QTextDocument>
#include <QTextImageFormat>

using namespace trainyard;

namespace {

EvaluationPtr evaluated(const char *sample)
{
    const auto plan = readPlan(std::string(TRAINYARD_SOURCE_DIR "/samples/") + sample + ".trainyard.json");
    EvaluationWorkspace workspace;
    return *evaluate(std::make_shared<const Plan>(*plan), builtinCatalogue(), workspace);
}

int pagesOf(const QByteArray &pdf)
{
    static const QRegularExpression page(QStringLiteral("/Type /Page\\b(?!s)"));
    int pages = 0;
    for (auto found = page.globalMatch(QString::fromLatin1(pdf)); found.hasNext(); found.next())
        ++pages;
    return pages;
}

} // namespace

class PdfReportTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { m_evaluation = evaluated("llama-3-70b-three-regions"); }

    void thePagesHaveThePaperOfTheCountry()
    {
        const ReportPieces pieces = reportPieces(m_evaluation, "Three regions");
        const QByteArray a4 = pdfReport(pieces, QPageSize(QPageSize::A4));
        const QByteArray letter = pdfReport(pieces, QPageSize(QPageSize::Letter));
        QVERIFY(pagesOf(a4) >= 2);
        QVERIFY(a4.contains("/MediaBox [0 0 595") && letter.contains("/MediaBox [0 0 612"));
        if (const QByteArray path = qgetenv("TRAINYARD_KEEP_PDF"); !path.isEmpty()) {
            QFile file(QString::fromLocal8Bit(path));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(a4);
        }
    }
    void nothingOnThePagesIsAPicture()
    {
        // Vectors and text only: an image would be an XObject of that kind. Two fonts or more are embedded.
        const QByteArray pdf = pdfReport(reportPieces(m_evaluation, "Three regions"), QPageSize(QPageSize::A4));
        QVERIFY(!pdf.contains("/Subtype /Image"));
        QVERIFY(pdf.contains("/FontFile2") || pdf.contains("/FontFile3"));
        QVERIFY(pdf.size() < 4'000'000);
    }
    void thePlanIsAttachedAndReadable()
    {
        const QByteArray pdf = pdfReport(reportPieces(m_evaluation, "Three regions"), QPageSize(QPageSize::A4));
        QVERIFY(pdf.contains("/EmbeddedFile"));
        const auto plan =
            parsePlan({ pdf.constData(), std::size_t(pdf.size()) }, "report.pdf", m_evaluation->plan->baseDir);
        QVERIFY(plan && *plan == *m_evaluation->plan);
    }
    void theColoursOfThePicturesAreThoseOfThePage()
    {
        // A square of the class for forward work is #56b4e9 in the style sheet.
        SvgObject pictures(reportPieces(m_evaluation, "p").style, QStringLiteral("DejaVu Sans"), QSizeF(1000, 1000), 4);
        const QString html = pictures.withPictures(
            R"(<svg viewBox="0 0 1160 580"><rect x="0" y="0" width="1160" height="580" class="k-forward"/></svg>)");
        QCOMPARE(html, QStringLiteral("<p><img src=\"0\"></p>"));
        QTextImageFormat format;
        format.setName("0");
        QTextDocument document;
        // The page's width, and the height that follows: 1000 · 580 / 1160.
        QCOMPARE(pictures.intrinsicSize(&document, 0, format), QSizeF(1000, 500));
        QImage image(100, 50, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        pictures.drawObject(&painter, QRectF(0, 0, 100, 50), &document, 0, format);
        painter.end();
        QCOMPARE(image.pixelColor(50, 25).name(), QStringLiteral("#56b4e9"));
    }
    void aPlanThatCannotRunHasAReportToo()
    {
        Plan plan = *m_evaluation->plan;
        plan.placement.stages.clear();
        plan.parallelism = {}; // 70 billion parameters on each GPU
        EvaluationWorkspace workspace;
        const auto evaluation = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(evaluation);
        QVERIFY(!(*evaluation)->feasible());
        QVERIFY(pagesOf(pdfReport(reportPieces(*evaluation, "Too large"), QPageSize(QPageSize::A4))) >= 1);
    }

private:
    EvaluationPtr m_evaluation;
};

TRAINYARD_TEST(PdfReportTest)
#include "tst_pdf_report.moc"
