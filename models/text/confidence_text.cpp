// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/confidence_text.h"

#include "models/text/duration.h"
#include "models/text/format.h"

#include <QObject>
#include <QStringList>

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

struct Label {
    const char *name, *meaning;
};

constexpr std::array<Label, 4> kLabels { {
    { "spec sheet",
        QT_TRANSLATE_NOOP("QObject",
            "Nobody has measured the kernels of some GPU of this plan: its speed is derived from its specification. Of "
            "published runs that were predicted so, each publication held back, nine in ten lay within this range.") },
    { "extrapolated",
        QT_TRANSLATE_NOOP("QObject",
            "No published run resembles this plan. Of published runs that were predicted without their like, each "
            "publication held back, nine in ten lay within this range.") },
    { "same family",
        QT_TRANSLATE_NOOP("QObject",
            "Published runs differ from this plan in one respect, such as the stack or a sister GPU. Of runs that were "
            "predicted from such relatives, each publication held back, nine in ten lay within this range.") },
    { "calibrated",
        QT_TRANSLATE_NOOP("QObject",
            "The same GPU, software stack and precision were measured. Of published runs with such company, each "
            "publication held back, nine in ten lay within this range.") },
} };

} // namespace

QString rangeText(const Confidence &confidence)
{
    if (!confidence.iterationLow || !confidence.iterationHigh)
        return {};
    QString low = formatSeconds(*confidence.iterationLow);
    const QString high = formatSeconds(*confidence.iterationHigh);
    const QString unit = high.section(u' ', 1);
    if (low.section(u' ', 1) == unit)
        low = low.section(u' ', 0, 0);
    return QObject::tr("%1 to %2").arg(low, high);
}

QString confidenceText(const Metrics &metrics)
{
    QStringList parts;
    if (metrics.iterationTime)
        parts << formatSeconds(*metrics.iterationTime);
    else if (metrics.jobs && metrics.jobs->makespan)
        parts << formatDuration(*metrics.jobs->makespan);
    if (const QString range = rangeText(metrics.confidence); !range.isEmpty())
        parts << range;
    if (!metrics.confidence.label.empty())
        parts << QString::fromStdString(metrics.confidence.label);
    return parts.join(QStringLiteral(", "));
}

int trustLevel(const std::string &label)
{
    const auto found = std::ranges::find(kLabels, label, &Label::name);
    return found == kLabels.end() ? 0 : int(found - kLabels.begin());
}

QString meaningOf(const std::string &label)
{
    const auto found = std::ranges::find(kLabels, label, &Label::name);
    return found == kLabels.end() ? QString() : QObject::tr(found->meaning);
}

QString basisText(const Confidence &confidence, int rows)
{
    QString meaning = meaningOf(confidence.label);
    if (const qsizetype end = meaning.indexOf(QStringLiteral(". ")); end >= 0 && rangeText(confidence).isEmpty())
        meaning.truncate(end + 1); // what follows is about a range
    QStringList sentences { meaning };
    if (rows > 0)
        sentences << (rows == 1 ? QObject::tr("One published row makes this label.")
                                : QObject::tr("%L1 published rows make this label.").arg(rows));
    if (!confidence.note.empty()) {
        const QString note = QString::fromStdString(confidence.note);
        sentences << note.left(1).toUpper() + note.mid(1) + u'.';
    }
    sentences.removeAll(QString());
    return sentences.join(u' ');
}

} // namespace trainyard
