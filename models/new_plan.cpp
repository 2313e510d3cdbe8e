// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/new_plan.h"

#include "core/facts/workload/model_math.h"
#include "models/link_suggestion.h"
#include "models/text/plain_id.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace trainyard {

namespace {

QString newPlanText(const char *text)
{
    return QCoreApplication::translate("NewPlan", text);
}

/// Generations by age, the oldest first. One that is not among them is newer than this list.
constexpr std::array<std::string_view, 10> kGenerations { "Pascal", "Volta", "Turing", "Ampere", "CDNA 2",
    "Ada Lovelace", "Hopper", "CDNA 3", "Blackwell", "Blackwell Ultra" };

auto age(const GpuSpec &gpu)
{
    return std::ranges::find(kGenerations, gpu.architecture) - kGenerations.begin();
}

/// A degree of tensor parallelism that shares the weights out without leaving a node: the smallest power of two that
/// brings them under a third of the GPU's memory, as far as nodes and heads go.
int tensorOf(const ModelSpec &model, const GpuSpec *gpu, int gpusPerNode)
{
    const double room = gpu ? double(gpu->memoryBytes) / 3 : 2e10;
    const double bytes = 2 * totalParameters(model);
    int tensor = 1;
    while (tensor * 2 <= std::min(8, gpusPerNode) && gpusPerNode % (tensor * 2) == 0 && model.heads % (tensor * 2) == 0
        && bytes / tensor > room)
        tensor *= 2;
    return tensor;
}

const ModelSpec *modelOf(const NewPlan &given, const Catalogue &catalogue)
{
    return given.ownModel ? &*given.ownModel : catalogue.model(given.model);
}

} // namespace

qint64 gpusOf(const NewPlan &given)
{
    qint64 gpus = 0;
    for (const NewSite &site : given.sites)
        gpus += qint64(site.nodes) * site.gpusPerNode;
    return gpus;
}

void forgetMoved(NewPlan &given, const std::vector<NewSite> &before)
{
    // A site of one's own may be renamed: what is typed is all that is known of it.
    const auto isMoved = [&](int site) {
        return std::size_t(site) < std::min(before.size(), given.sites.size())
            && before[std::size_t(site)].region != given.sites[std::size_t(site)].region;
    };
    for (auto &[ends, figures] : given.links) {
        if (isMoved(ends.first) || isMoved(ends.second))
            figures.rttMs.reset();
    }
}

std::vector<const GpuSpec *> newestGpus(const Catalogue &catalogue)
{
    std::vector<const GpuSpec *> gpus;
    for (const GpuSpec &gpu : catalogue.gpus)
        gpus.push_back(&gpu);
    std::ranges::stable_sort(gpus, [](const GpuSpec *a, const GpuSpec *b) {
        return age(*a) != age(*b) ? age(*a) > age(*b) : a->memoryBytes > b->memoryBytes;
    });
    return gpus;
}

int usualGpusPerNode(const GpuSpec &gpu)
{
    // Where the fast link joins more than a node has (a rack) or just the four of it, nodes have four.
    return gpu.linkDomain > 8 || gpu.linkDomain == 4 ? 4 : 8;
}

Cluster clusterOf(const NewPlan &given, const Catalogue &catalogue)
{
    Cluster cluster;
    std::set<std::string> taken;
    for (const NewSite &site : given.sites) {
        Datacenter datacenter;
        const Region *region = catalogue.region(site.region);
        datacenter.name = region && site.name.isEmpty() ? region->name : site.name.trimmed().toStdString();
        const std::string wanted = region ? region->id : plainId(site.name, "site");
        datacenter.id = wanted;
        for (int n = 2; !taken.insert(datacenter.id).second; ++n)
            datacenter.id = wanted + "-" + std::to_string(n);
        if (region) {
            datacenter.latitude = region->latitude;
            datacenter.longitude = region->longitude;
            if (region->usdPerKwh > 0) // 0: not known
                datacenter.usdPerKwh = region->usdPerKwh;
            if (region->kgCo2PerKwh > 0)
                datacenter.kgCo2PerKwh = region->kgCo2PerKwh;
        }
        Pool pool;
        pool.id = datacenter.id + "-gpus";
        pool.gpu = site.gpu;
        pool.nodes = site.nodes;
        pool.gpusPerNode = site.gpusPerNode;
        datacenter.pools.push_back(std::move(pool));
        cluster.datacenters.push_back(std::move(datacenter));
    }
    return cluster;
}

std::vector<NewLink> linksOf(const NewPlan &given, const Catalogue &catalogue)
{
    const Cluster cluster = clusterOf(given, catalogue);
    const int sites = int(given.sites.size());
    std::vector<NewLink> links;
    for (int from = 0; from < sites; ++from) {
        for (int to = from + 1; to < sites; ++to) {
            SuggestedLink suggested = suggestLink(cluster, from, to, catalogue);
            if (suggested.source.isEmpty()) {
                suggested.link.rttMs = kAssumedRttMs;
                suggested.source = newPlanText("Round trip assumed; one of the sites has no known place");
            }
            const Region *a = catalogue.region(given.sites[std::size_t(from)].region),
                         *b = catalogue.region(given.sites[std::size_t(to)].region);
            if (a && b && a->provider == b->provider && catalogue.cloud(a->provider))
                suggested.link.cloud = a->provider;
            if (const auto typed = given.links.find({ from, to }); typed != given.links.end()) {
                if (typed->second.rttMs) {
                    suggested.link.rttMs = *typed->second.rttMs;
                    suggested.source = newPlanText("Round trip as typed");
                }
                suggested.link.capacityGbps = typed->second.capacityGbps.value_or(suggested.link.capacityGbps);
            }
            links.push_back({ from, to, std::move(suggested.link), std::move(suggested.source) });
        }
    }
    return links;
}

QString missingIn(const NewPlan &given, const Catalogue &catalogue)
{
    if (given.sites.empty())
        return newPlanText("Add a region.");
    for (const NewSite &site : given.sites) {
        if (!catalogue.region(site.region) && site.name.trimmed().isEmpty())
            return newPlanText("Choose a region, or name a site of your own.");
        if (!catalogue.gpu(site.gpu))
            return newPlanText("Choose the GPUs of %1.").arg(site.name);
    }
    if (const qint64 gpus = gpusOf(given); gpus > kMostGpus) {
        const QLocale english(QLocale::English);
        return newPlanText("%1 GPUs are too many: a plan has %2 at most.")
            .arg(english.toString(gpus), english.toString(kMostGpus));
    }
    return modelOf(given, catalogue) ? QString() : newPlanText("Choose a model.");
}

Plan planOf(const NewPlan &given, const Catalogue &catalogue)
{
    Plan plan;
    plan.cluster = clusterOf(given, catalogue);
    for (NewLink &link : linksOf(given, catalogue))
        plan.cluster.wanLinks.push_back(std::move(link.link));
    plan.workload.model = given.ownModel ? std::string() : given.model;
    plan.workload.inlineModel = given.ownModel;
    plan.workload.sequenceLength = given.sequenceLength;
    plan.workload.globalBatch = given.globalBatch;
    const ModelSpec *model = modelOf(given, catalogue);
    if (model && !given.sites.empty()) {
        const NewSite &first = given.sites.front();
        int perNode = first.gpusPerNode;
        for (const NewSite &site : given.sites)
            perNode = std::min(perNode, site.gpusPerNode);
        plan.parallelism.tensor = tensorOf(*model, catalogue.gpu(first.gpu), perNode);
        const int groups = int(std::min(gpusOf(given), kMostGpus)) / plan.parallelism.tensor;
        const int sites = int(given.sites.size());
        plan.parallelism.pipeline = std::clamp(sites, 1, std::max(1, std::min(groups, model->layers)));
    }
    plan.name = given.name.trimmed().toStdString();
    if (plan.name.empty() && model) {
        QStringList where;
        for (const Datacenter &datacenter : plan.cluster.datacenters)
            where << QString::fromStdString(datacenter.label());
        const QString places = where.size() > 3 ? newPlanText("%1 sites").arg(where.size())
            : where.size() > 1
            ? where.mid(0, where.size() - 1).join(QStringLiteral(", ")) + newPlanText(" and ") + where.last()
            : where.join(QString());
        const QString what = QString::fromStdString(model->name.empty() ? given.model : model->name);
        plan.name = newPlanText("%1 on %2").arg(what, places).toStdString();
    }
    return plan;
}

} // namespace trainyard
