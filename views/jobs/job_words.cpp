// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/job_words.h"

#include "core/facts/plan/enum_names.h"
#include "models/text/duration.h"
#include "models/text/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("trainyard::JobWords", text);
}

const JobMetrics *metricsOf(const JobVariant &variant)
{
    return variant.evaluation && variant.evaluation->metrics.jobs ? &*variant.evaluation->metrics.jobs : nullptr;
}

Metric ownTime(const JobComparison &comparison)
{
    return comparison.schedulers.empty() ? Metric() : comparison.schedulers.front().makespan();
}

const JobVariant *schedulerOf(const JobComparison &comparison, JobScheduler scheduler)
{
    const auto found = std::ranges::find_if(comparison.schedulers,
        [&](const JobVariant &variant) { return variant.plan && variant.plan->jobScheduler == scheduler; });
    return found == comparison.schedulers.end() ? nullptr : &*found;
}

QString factor(double of)
{
    return QString::number(of, 'f', of < 9.995 ? 2 : 1);
}

int gpusOf(const JobVariant &variant)
{
    return variant.plan ? variant.plan->cluster.gpus() : 0;
}

int runningJobs(const JobVariant &variant)
{
    const JobMetrics *metrics = metricsOf(variant);
    return metrics ? int(std::ranges::count(metrics->perJob, JobState::Runs, &JobResult::state)) : 0;
}

VariantBar barOf(const JobVariant &variant)
{
    VariantBar bar { .name = QString::fromStdString(variant.name), .note = QString::fromStdString(variant.note) };
    bar.value = variant.makespan();
    if (bar.value)
        bar.text = formatDuration(*bar.value);
    return bar;
}

QString quoted(const std::string &text, QChar separator)
{
    QString result = QString::fromStdString(text);
    if (separator == u'\t')
        return result.replace(u'\t', u' ');
    return result.contains(separator) || result.contains(u'"')
        ? u'"' + result.replace(u'"', QStringLiteral("\"\"")) + u'"'
        : result;
}

} // namespace

QString overviewOf(const JobComparison &comparison)
{
    if (comparison.schedulers.empty())
        return {};
    const JobVariant &own = comparison.schedulers.front();
    QString text = tr("%1 on %2").arg(countOf(runningJobs(own), tr("job"), tr("jobs")), gpusText(gpusOf(own)));
    if (const JobMetrics *metrics = metricsOf(own); metrics && metrics->bound)
        text += tr(" · no schedule by shards takes less than %1").arg(formatDuration(*metrics->bound));
    return text;
}

QString resultSentence(const JobComparison &comparison)
{
    const Metric own = ownTime(comparison);
    if (!own || *own <= 0)
        return comparison.schedulers.empty() ? QString()
                                             : tr("This plan's schedule has no time: %1")
                                                   .arg(QString::fromStdString(comparison.schedulers.front().note));
    const JobVariant &first = comparison.schedulers.front();
    QString text = tr("%1: all jobs have ended after %2")
                       .arg(QString::fromUtf8(labelOf(first.plan->jobScheduler)), formatDuration(*own));
    if (const JobMetrics *metrics = metricsOf(first); metrics && metrics->bound && *metrics->bound > 0)
        text += *own <= *metrics->bound * 1.0005
            ? tr(", at the bound")
            : tr(", %1 above the bound").arg(formatPercent(*own / *metrics->bound - 1));
    QStringList besides;
    const struct {
        JobScheduler scheduler;
        QString name;
    } others[] = { { JobScheduler::ModelParallel, tr("model parallelism") },
        { JobScheduler::Pipeline, tr("a pipeline") }, { JobScheduler::ZeroOffload, tr("ZeRO-3 with offload") } };
    for (const auto &other : others) {
        const JobVariant *variant = schedulerOf(comparison, other.scheduler);
        const Metric times = variant && variant != &first ? speedUp(*variant, first) : Metric();
        if (!times)
            continue;
        QString one = tr("%1 × as fast as %2").arg(factor(*times), other.name);
        if (other.scheduler == JobScheduler::ModelParallel)
            one += tr(" (min(G, n) = %1)").arg(std::min(gpusOf(first), runningJobs(first)));
        besides << one;
    }
    return besides.isEmpty() ? text + u'.' : text + QStringLiteral("; ") + besides.join(QStringLiteral(", ")) + u'.';
}

QString againstOwn(const JobComparison &comparison, const JobVariant &variant)
{
    if (comparison.schedulers.empty() || &variant == &comparison.schedulers.front())
        return {};
    const Metric times = speedUp(comparison.schedulers.front(), variant);
    if (!times)
        return {};
    if (std::abs(1 / *times - 1) < 0.005)
        return tr("as long");
    return *times <= 1 ? tr("× %1").arg(factor(1 / *times)) : tr("÷ %1").arg(factor(*times));
}

std::vector<VariantBar> ablationBars(const JobComparison &comparison)
{
    std::vector<VariantBar> bars;
    const JobVariant *before = nullptr;
    for (const JobVariant &variant : comparison.ablation) {
        VariantBar bar = barOf(variant);
        if (const Metric times = before ? speedUp(*before, variant) : Metric())
            bar.relation = tr("÷ %1").arg(factor(*times));
        before = bar.value ? &variant : before;
        bars.push_back(bar);
    }
    return bars;
}

std::vector<VariantBar> scalingBars(const JobComparison &comparison)
{
    std::vector<VariantBar> bars;
    const JobVariant *one = nullptr; // of the fewest GPUs on which all jobs run that run on any
    for (const JobVariant &variant : comparison.scaling)
        if (variant.makespan()
            && (!one || variant.jobsRun() > one->jobsRun()
                || (variant.jobsRun() == one->jobsRun() && gpusOf(variant) < gpusOf(*one))))
            one = &variant;
    const int own = comparison.plan ? comparison.plan->cluster.gpus() : 0;
    for (const JobVariant &variant : comparison.scaling) {
        VariantBar bar = barOf(variant);
        bar.isOwn = gpusOf(variant) == own;
        const Metric times = one ? speedUp(*one, variant) : Metric();
        bar.value = times ? Metric(*times * gpusOf(*one)) : Metric();
        if (bar.value) {
            bar.ideal = std::min(gpusOf(variant), runningJobs(variant));
            bar.relation = tr("%1 of %2").arg(factor(*bar.value)).arg(*bar.ideal);
        }
        bars.push_back(bar);
    }
    return bars;
}

std::vector<VariantBar> oneMoreBars(const JobComparison &comparison)
{
    std::vector<VariantBar> bars;
    const Metric own = ownTime(comparison);
    for (const JobVariant &variant : comparison.oneMore) {
        VariantBar bar = barOf(variant);
        if (own && bar.value)
            bar.relation = *bar.value == *own ? tr("no gain") : formatChange(*own, *bar.value);
        bars.push_back(bar);
    }
    return bars;
}

QString comparisonTable(const JobComparison &comparison, QChar separator)
{
    QString text = QStringList { QStringLiteral("part"), QStringLiteral("variant"), QStringLiteral("makespan_s"),
        QStringLiteral("bound_s"), QStringLiteral("gpu_utilization"), QStringLiteral("note") }
                       .join(separator)
        + u'\n';
    const auto number = [](const Metric &metric) { return metric ? QString::number(*metric, 'g', 9) : QString(); };
    const auto add = [&](const QString &part, const std::vector<JobVariant> &variants) {
        for (const JobVariant &variant : variants) {
            const JobMetrics *metrics = metricsOf(variant);
            text += QStringList { part, quoted(variant.name, separator), number(variant.makespan()),
                number(metrics ? metrics->bound : Metric()), number(metrics ? metrics->gpuUtilization : Metric()),
                quoted(variant.note, separator) }
                        .join(separator)
                + u'\n';
        }
    };
    add(QStringLiteral("scheduler"), comparison.schedulers);
    add(QStringLiteral("ablation"), comparison.ablation);
    add(QStringLiteral("scaling"), comparison.scaling);
    add(QStringLiteral("one_more_gpu"), comparison.oneMore);
    return text;
}

} // namespace trainyard
