// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/roofline_rows.h"

#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "views/run/run_text.h"

#include <QLocale>

namespace trainyard {

namespace {

QString dash()
{
    return QStringLiteral("–");
}

/// Three digits: "537", "0.51".
QString threeDigits(double value)
{
    return QString::number(value, 'f', value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

QString shareOf(const Roofline &roofline, double nanoseconds)
{
    return formatPercent(roofline.total > 0 ? nanoseconds / roofline.total : 0);
}

QString nameText(const std::string &text)
{
    return foreignText(QString::fromStdString(text));
}

/// "mm  bf16  4096 × 1024 × 2048", "add_  bf16[64, 32], bf16[32]"
QString operatorText(const RooflineRow &row)
{
    const QString gap = QStringLiteral("  ");
    QString name = nameText(row.operation);
    if (name.startsWith(QLatin1String("aten::")))
        name.remove(0, 6);
    if (row.work.kind != OperationKind::Elementwise)
        name += gap + QString::fromStdString(formatName(row.work.precision));
    return name + gap + nameText(row.shape);
}

QString roofText(const Roofline &roofline)
{
    if (!roofline.gpu)
        return roofline.gpuName.empty()
            ? runText("The traces do not tell their GPU: there is no roof, and the model has no time to compare.")
            : runText("The catalogue has no %1: there is no roof, and the model has no time to compare.")
                  .arg(nameText(roofline.gpuName));
    return runText("Roof and model of %1.").arg(QString::fromStdString(roofline.gpu->name))
        + (roofline.isGpuSure ? QString()
                              : u' ' + runText("Several GPUs are called %1.").arg(nameText(roofline.gpuName)));
}

QString lackText(RooflineLack lack)
{
    switch (lack) {
    case RooflineLack::Host:
        return runText("Sizes of tensors are told by the operators of the host, which were not read.");
    case RooflineLack::Sizes:
        return runText("The operators of this trace do not tell the sizes of their tensors. Record it with "
                       "record_shapes=True of PyTorch's profiler.");
    case RooflineLack::Formulas:
        return runText("No formula is known of the operators that launched its kernels.");
    case RooflineLack::Kernels:
    case RooflineLack::None:
        break;
    }
    return {};
}

} // namespace

QString kindText(OperationKind kind)
{
    switch (kind) {
    case OperationKind::Product:
        return runText("Product");
    case OperationKind::Attention:
        return runText("Attention");
    case OperationKind::Elementwise:
        break;
    }
    return runText("Elementwise");
}

TextRows rooflineRows(const Roofline &roofline)
{
    TextRows rows;
    rows.titles = { runText("Time"), runText("Operator and shape"), runText("Calls"), runText("Per call"),
        runText("Predicted"), runText("Ratio"), runText("TFLOP/s"), runText("GB/s"), runText("Of roof") };
    for (const RooflineRow &row : roofline.rows)
        rows.lines.push_back(
            { { formatSeconds(row.total * 1e-9), operatorText(row),
                  QLocale(QLocale::English).toString(qlonglong(row.calls)), formatSeconds(row.seconds()),
                  row.predictedSeconds ? formatSeconds(*row.predictedSeconds) : dash(),
                  row.ratio() ? threeDigits(*row.ratio()) + QStringLiteral(" ×") : dash(),
                  row.work.flops > 0 ? threeDigits(row.flopsPerSecond() * 1e-12) : dash(),
                  threeDigits(row.bytesPerSecond() * 1e-9),
                  row.shareOfRoof() ? formatPercent(*row.shareOfRoof()) : dash() },
                Tone::Plain, int(row.work.kind), rooflineTip(roofline, row) });
    return rows;
}

QString rooflineTip(const Roofline &roofline, const RooflineRow &row)
{
    const auto plain = [](const std::string &text) { return nameText(text).toHtmlEscaped(); };
    QStringList lines { QStringLiteral("<b>%1</b>").arg(plain(row.operation)),
        kindText(row.work.kind) + QStringLiteral(" · ") + QString::fromStdString(formatName(row.work.precision))
            + QStringLiteral(" · ") + plain(row.shape),
        runText("%1 in %2, %3 of the kernels' time")
            .arg(formatSeconds(row.total * 1e-9), countOf(row.calls, runText("call"), runText("calls")),
                shareOf(roofline, row.total)) };
    lines << (row.work.flops > 0 ? runText("%1 TFLOP/s, %2 GB/s, %3 FLOPs per byte")
                                       .arg(threeDigits(row.flopsPerSecond() * 1e-12),
                                           threeDigits(row.bytesPerSecond() * 1e-9), threeDigits(row.intensity()))
                                 : runText("%1 GB/s").arg(threeDigits(row.bytesPerSecond() * 1e-9)));
    if (row.shareOfRoof())
        lines << runText("%1 of the roof").arg(formatPercent(*row.shareOfRoof()));
    if (row.ratio())
        lines << runText("%1 per call, predicted %2 (%3 ×)")
                     .arg(
                         formatSeconds(row.seconds()), formatSeconds(*row.predictedSeconds), threeDigits(*row.ratio()));
    lines << plain(row.kernel);
    return lines.join(QStringLiteral("<br>"));
}

QString rooflineSummary(const Roofline &roofline)
{
    if (roofline.lack != RooflineLack::None)
        return lackText(roofline.lack);
    QString text = roofText(roofline) + u' '
        + runText("%1 of the kernels' time without collectives is counted, %2 is of operators without a formula.")
              .arg(shareOf(roofline, roofline.counted), shareOf(roofline, roofline.withoutFormula));
    if (roofline.otherRanks > 0)
        text += u' '
            + runText("%1 with another GPU left out.")
                  .arg(countOf(roofline.otherRanks, runText("rank"), runText("ranks")));
    return text;
}

} // namespace trainyard
