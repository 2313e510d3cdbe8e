// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/calibration_text.h"

#include "core/base/number_text.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"
#include "models/text/format.h"
#include "models/text/gpu_name.h"
#include "models/text/utf8.h"

#include <QObject>
#include <QStringList>

#include <algorithm>

namespace trainyard {

namespace {

QString plain(double value)
{
    return fromUtf8(plainText(value));
}

/// One digit tells how sure a figure is.
QString errorText(double error)
{
    return error < 1 ? QString::number(error, 'g', 1) : plain(error);
}

QString partName(CalibratedPart part)
{
    switch (part) {
    case CalibratedPart::Products:
        return QObject::tr("Products");
    case CalibratedPart::Attention:
        return QObject::tr("Attention");
    case CalibratedPart::Memory:
        return QObject::tr("Memory-bound kernels");
    case CalibratedPart::Host:
        return QObject::tr("Host");
    case CalibratedPart::Nvlink:
        return QObject::tr("NVLink");
    case CalibratedPart::Fabric:
        return QObject::tr("Fabric");
    case CalibratedPart::Wan:
        return QObject::tr("WAN");
    case CalibratedPart::Drive:
        return QObject::tr("Drives");
    case CalibratedPart::Pcie:
        return QObject::tr("PCIe");
    case CalibratedPart::Overlap:
        return QObject::tr("Overlap");
    }
    return {};
}

QString gpuName(const std::string &id, const Plan &plan, const Catalogue &catalogue)
{
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            if (pool.gpu == id)
                return shortGpuName(pool);
    const GpuSpec *spec = catalogue.gpu(id);
    return spec ? fromUtf8(spec->name) : fromUtf8(id);
}

QString datacenterName(const std::string &id, const Plan &plan)
{
    const auto &all = plan.cluster.datacenters;
    const auto found = std::ranges::find(all, id, &Datacenter::id);
    return fromUtf8(found == all.end() || found->name.empty() ? id : found->name);
}

QString withoutCapital(QString subject)
{
    const bool isAcronym = subject.size() > 1 && subject[1].isUpper(); // NVLink, WAN, PCIe
    if (!isAcronym && !subject.isEmpty())
        subject[0] = subject[0].toLower();
    return subject;
}

} // namespace

QString subjectOf(const CalibrationFactor &factor, const Plan &plan, const Catalogue &catalogue)
{
    QString subject = partName(factor.what);
    if (factor.between.size() == 2)
        return QObject::tr("%1 between %2 and %3")
            .arg(subject, datacenterName(factor.between[0], plan), datacenterName(factor.between[1], plan));
    if (!factor.gpu.empty())
        subject = QObject::tr("%1 of %2").arg(subject, gpuName(factor.gpu, plan, catalogue));
    if (!factor.datacenter.empty())
        subject = (factor.gpu.empty() ? QObject::tr("%1 of %2") : QObject::tr("%1 in %2"))
                      .arg(subject, datacenterName(factor.datacenter, plan));
    return subject;
}

QString shortValueText(const CalibrationFactor &factor)
{
    QStringList parts;
    if (factor.factor)
        parts << QObject::tr("× %1").arg(plain(*factor.factor));
    if (factor.gbytesPerS)
        parts << QObject::tr("%1 GB/s").arg(plain(*factor.gbytesPerS));
    if (factor.latencyUs)
        parts << formatSeconds(*factor.latencyUs * 1e-6);
    return parts.join(QStringLiteral(", "));
}

QString valueText(const CalibrationFactor &factor)
{
    const auto with = [](const QString &value, const std::optional<double> &error, auto &&text) {
        return error && *error > 0 ? QObject::tr("%1 ± %2").arg(value, text(*error)) : value;
    };
    QStringList parts;
    if (factor.factor)
        parts << with(QObject::tr("× %1").arg(plain(*factor.factor)), factor.standardError, errorText);
    if (factor.gbytesPerS)
        parts << with(QObject::tr("%1 GB/s").arg(plain(*factor.gbytesPerS)),
            factor.factor ? std::nullopt : factor.standardError, errorText);
    if (factor.latencyUs)
        parts << with(formatSeconds(*factor.latencyUs * 1e-6), factor.latencyError,
            [](double us) { return formatSeconds(us * 1e-6); });
    return parts.join(QStringLiteral(", "));
}

QString basisText(const CalibrationFactor &factor)
{
    QStringList parts;
    if (factor.samples > 0)
        parts << countOf(factor.samples, QObject::tr("sample"), QObject::tr("samples"));
    if (factor.r2)
        parts << QStringLiteral("R² %1").arg(*factor.r2, 0, 'f', 3);
    return parts.join(QStringLiteral(", "));
}

QString errorsText(const CalibrationFactor &factor)
{
    if (!factor.errorBefore || !factor.errorAfter)
        return {};
    return QStringLiteral("%1 → %2").arg(formatPercent(*factor.errorBefore), formatPercent(*factor.errorAfter));
}

QString meaningOf(CalibratedPart part)
{
    switch (part) {
    case CalibratedPart::Products:
        return QObject::tr("Time of matrix products, measured over modelled.");
    case CalibratedPart::Attention:
        return QObject::tr("Time of attention kernels, measured over modelled.");
    case CalibratedPart::Memory:
        return QObject::tr("Time of kernels that move memory, measured over modelled.");
    case CalibratedPart::Host:
        return QObject::tr("Time of the host's own work, measured over modelled.");
    case CalibratedPart::Nvlink:
        return QObject::tr("Links inside a node.");
    case CalibratedPart::Fabric:
        return QObject::tr("Links between nodes of a datacenter.");
    case CalibratedPart::Wan:
        return QObject::tr("What a pair of nodes reaches between two datacenters.");
    case CalibratedPart::Drive:
        return QObject::tr("What the drives of a node write and read.");
    case CalibratedPart::Pcie:
        return QObject::tr("Between a GPU and its host's memory, each direction.");
    case CalibratedPart::Overlap:
        return QObject::tr("Share of communication hidden under computing, measured over modelled.");
    }
    return {};
}

QString takeText(const CalibrationFactor &factor, const Plan &plan, const Catalogue &catalogue)
{
    const QString what =
        QObject::tr("Take %1 %2").arg(withoutCapital(subjectOf(factor, plan, catalogue)), shortValueText(factor));
    return factor.recording.empty() ? what : QObject::tr("%1 from %2").arg(what, fromUtf8(factor.recording));
}

QString removeText(const CalibrationFactor &factor, const Plan &plan, const Catalogue &catalogue)
{
    return QObject::tr("Remove %1 %2").arg(withoutCapital(subjectOf(factor, plan, catalogue)), shortValueText(factor));
}

} // namespace trainyard
