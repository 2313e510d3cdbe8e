// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text_file.h"
#include "core/facts/catalogue/builtin_file_internal.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/entry_readers_internal.h"

#include <algorithm>
#include <functional>

namespace trainyard {

namespace {

using ReadText = std::function<Expected<std::string>(const std::string &fileName)>;

struct SourcedFile {
    std::string name; // for messages
    CatalogueJson content = CatalogueJson::object();
    Citations sources;
};

SourcedFile openFile(const std::string &name, const ReadText &readText, Errors &errors)
{
    SourcedFile file { name, CatalogueJson::object(), {} };
    const auto text = readText(name);
    const Expected<CatalogueJson> json = text ? parseJson(*text, name) : std::unexpected(text.error());
    if (!json) {
        errors.push_back(json.error());
        return file;
    }
    file.content = *json;
    ObjectReader reader(file.content, name + ": ", errors);
    reader.require("sources", "an object of source id -> {\"title\", \"date\"}");
    const CatalogueJson *table = reader.raw("sources");
    if (!table || !table->is_object())
        return file;
    for (const auto &[id, value] : table->items()) {
        ObjectReader entry(value, name + ": /sources/" + id, errors);
        std::string title, date;
        entry.text("title", title);
        entry.text("date", date);
        entry.require("title", "what the figures were taken from");
        entry.require("date", "year, or year-month-day");
        entry.rejectUnknownKeys();
        file.sources[id] = title + ", " + date;
    }
    return file;
}

/// Reads every element of the list `key` with `read`; ids must be unique.
template <class Entry>
void readList(const SourcedFile &file, const std::string &key, Errors &errors, std::vector<Entry> &target,
    const std::function<Entry(ObjectReader &)> &read)
{
    const auto list = file.content.find(key);
    if (list == file.content.end() || !list->is_array()) {
        errors.push_back(
            { ErrorCode::BadValue, file.name + ": /" + key, key + " is missing or no list", "a list of objects" });
        return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        ObjectReader reader((*list)[i], file.name + ": /" + key + "/" + std::to_string(i), errors, &file.sources);
        target.push_back(read(reader));
        reader.rejectUnknownKeys();
        if constexpr (requires(Entry e) { e.id; }) {
            const std::string &id = target.back().id;
            reader.require("id", "a unique id");
            if (std::ranges::count(target, id, &Entry::id) > 1)
                reader.fault("id", "id \"" + id + "\" is used twice", "a unique id");
        }
    }
}

Region readRegion(ObjectReader &reader)
{
    Region region;
    reader.text("id", region.id);
    reader.text("name", region.name);
    reader.text("provider", region.provider);
    reader.figure("latitude", region.latitude, { -90, 90 });
    reader.figure("longitude", region.longitude, { -180, 180 });
    reader.figure("egress_usd_per_gb", region.egressUsdPerGb, { 0, 10 });
    reader.figure("usd_per_kwh", region.usdPerKwh, { 0, 10 });
    reader.figure("kg_co2_per_kwh", region.kgCo2PerKwh, { 0, 10 });
    region.source = reader.sourcesText();
    return region;
}

Cloud readCloud(ObjectReader &reader)
{
    Cloud cloud;
    reader.text("id", cloud.id);
    reader.text("name", cloud.name);
    reader.require("tcp_window_mb", "the window of one connection in 10^6 bytes");
    reader.figure("tcp_window_mb", cloud.tcpWindowMb, { 0.001, 1e6 });
    cloud.source = reader.sourcesText();
    return cloud;
}

RegionLink readRegionLink(ObjectReader &reader, const std::vector<Region> &regions)
{
    RegionLink link;
    const auto end = [&](const char *key, std::string &id) {
        reader.require(key, "the id of a region");
        reader.text(key, id);
        if (std::ranges::find(regions, id, &Region::id) == regions.end())
            reader.fault(key, "no region has the id \"" + id + "\"", "an id of /regions", ErrorCode::UnknownName);
    };
    end("from", link.from);
    end("to", link.to);
    reader.require("rtt_ms", "a round trip in milliseconds");
    reader.figure("rtt_ms", link.rttMs, { 0, 1000 });
    double price = -1;
    reader.figure("usd_per_gb", price, { 0, 10 });
    if (price >= 0)
        link.usdPerGb = price;
    link.source = reader.sourcesText();
    return link;
}

/// Curves by family, from kernels.json, which tools/fit_kernels writes.
std::map<std::string, KernelFamily> readFamilies(const SourcedFile &file, Errors &errors)
{
    std::map<std::string, KernelFamily> families;
    const auto list = file.content.find("families");
    if (list == file.content.end() || !list->is_object())
        return families;
    for (const auto &[name, value] : list->items()) {
        ObjectReader reader(value, file.name + ": /families/" + name, errors, &file.sources);
        reader.require("curves", "the parameters that tools/fit_kernels writes");
        ObjectReader curves = reader.object("curves");
        families[name] = readKernelFamily(curves);
        curves.rejectUnknownKeys();
    }
    return families;
}

GpuSpec readCatalogueGpu(ObjectReader &reader, const std::map<std::string, KernelFamily> &families)
{
    GpuSpec gpu = readGpu(reader);
    std::string name;
    reader.require("kernels", "a family of kernels.json");
    reader.text("kernels", name);
    const auto family = families.find(name);
    if (family == families.end()) {
        reader.fault(
            "kernels", "kernels.json has no family \"" + name + "\"", "one of its families", ErrorCode::UnknownName);
        return gpu;
    }
    setKernelFamily(gpu, family->second);
    reader.require("kernel_evidence", "measured, same family or spec sheet");
    readEvidence(reader, "kernel_evidence", gpu.gemm.evidence);
    return gpu;
}

ArchitectureRates readSustained(ObjectReader &reader)
{
    ArchitectureRates entry;
    reader.text("architecture", entry.architecture);
    reader.figure("watts", entry.watts, { 0, 1e5 });
    reader.figure("half_tflops", entry.halfTflops, { 0, 1e6 });
    struct Field {
        const char *key;
        double SustainedRates::*rate;
    };
    for (const Field &field : { Field { "half", &SustainedRates::half }, Field { "eight", &SustainedRates::eight },
             Field { "four", &SustainedRates::four }, Field { "grouped", &SustainedRates::grouped },
             Field { "attention", &SustainedRates::attention }, Field { "host", &SustainedRates::host } }) {
        reader.require(field.key, "a rate relative to a kernel measured alone");
        reader.figure(field.key, entry.rates.*field.rate, { 0.2, 5 });
    }
    entry.source = reader.sourcesText();
    return entry;
}

/// What a stack does comes from stacks.json, what it costs from stack_times.json, which tools/fit_stacks writes.
SourcedFile openStacks(const ReadText &readText, Errors &errors)
{
    SourcedFile stacks = openFile("stacks.json", readText, errors);
    const SourcedFile times = openFile("stack_times.json", readText, errors);
    stacks.sources.insert(times.sources.begin(), times.sources.end());
    if (!stacks.content.contains("stacks") || !times.content.contains("stacks"))
        return stacks; // readList names what is missing
    for (CatalogueJson &stack : stacks.content["stacks"]) {
        for (const CatalogueJson &fitted : times.content["stacks"]) {
            if (!stack.is_object() || !fitted.is_object() || fitted.value("id", "") != stack.value("id", " "))
                continue;
            for (const auto &[key, value] : fitted.items())
                if (key != "id" && key != "fit")
                    stack[key] = value;
        }
    }
    return stacks;
}

/// stack_releases.json, which tools/fit_releases writes: oldest first.
void readReleases(const SourcedFile &file, Errors &errors, std::vector<StackSpec> &stacks)
{
    struct Read {
        std::string stack;
        StackRelease release;
    };
    std::vector<Read> all;
    readList<Read>(file, "releases", errors, all, [&](ObjectReader &reader) {
        Read read;
        reader.require("stack", "the id of a stack");
        reader.text("stack", read.stack);
        read.release = readRelease(reader);
        const auto stack = std::ranges::find(stacks, read.stack, &StackSpec::id);
        if (stack == stacks.end())
            reader.fault(
                "stack", "no stack has the id \"" + read.stack + "\"", "an id of stacks.json", ErrorCode::UnknownName);
        else if (stack->release(read.release.id))
            reader.fault("release", "release " + read.release.id + " of " + read.stack + " is given twice",
                "one entry a release");
        else
            stack->releases.push_back(read.release);
        return read;
    });
}

/// confidence.json, which scripts/validation writes.
ConfidenceData readConfidence(const SourcedFile &file, Errors &errors)
{
    ConfidenceData data;
    readList<Evidence>(file, "evidence", errors, data.evidence, &readEvidenceEntry);
    readList<LabelRange>(file, "ranges", errors, data.ranges, &readLabelRange);
    return data;
}

ExpectedAll<Catalogue> load(const ReadText &readText)
{
    Errors errors;
    Catalogue catalogue;
    const auto families = readFamilies(openFile("kernels.json", readText, errors), errors);
    readList<GpuSpec>(openFile("gpus.json", readText, errors), "gpus", errors, catalogue.gpus,
        [&](ObjectReader &reader) { return readCatalogueGpu(reader, families); });
    readList<ModelSpec>(
        openFile("models.json", readText, errors), "models", errors, catalogue.models, [](ObjectReader &reader) {
            reader.require("source", "an id of /sources");
            return readModel(reader);
        });
    readList<StackSpec>(openStacks(readText, errors), "stacks", errors, catalogue.stacks, &readStack);
    readList<ArchitectureRates>(
        openFile("sustained.json", readText, errors), "architectures", errors, catalogue.sustained, &readSustained);
    readReleases(openFile("stack_releases.json", readText, errors), errors, catalogue.stacks);
    const SourcedFile regions = openFile("regions.json", readText, errors);
    readList<Region>(regions, "regions", errors, catalogue.regions, &readRegion);
    readList<RegionLink>(regions, "links", errors, catalogue.regionLinks,
        [&](ObjectReader &reader) { return readRegionLink(reader, catalogue.regions); });
    readList<Cloud>(regions, "clouds", errors, catalogue.clouds, &readCloud);
    catalogue.confidence = readConfidence(openFile("confidence.json", readText, errors), errors);
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return catalogue;
}

} // namespace

ExpectedAll<Catalogue> loadCatalogue(const std::string &folder)
{
    return load([&](const std::string &name) { return readTextFile(folder + "/" + name, "a catalogue file"); });
}

const Catalogue &builtinCatalogue()
{
    static const Catalogue catalogue = orAbort(load(&builtinText));
    return catalogue;
}

} // namespace trainyard
