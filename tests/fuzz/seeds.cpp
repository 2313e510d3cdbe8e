// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/seeds.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace trainyard::fuzz {

namespace {

using Json = nlohmann::ordered_json;

std::string content(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

/// All files of a folder, in order of their names, so that a seed gives the same run everywhere.
std::vector<std::string> filesOf(const std::string &folder)
{
    std::vector<std::filesystem::path> paths;
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator(folder, none))
        if (entry.is_regular_file())
            paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::vector<std::string> texts;
    for (const auto &path : paths)
        texts.push_back(content(path));
    return texts;
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string> &second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

std::vector<std::string> known(const std::string &folder, const char *target)
{
    return filesOf(folder + "/tests/fuzz/corpus/" + target);
}

/// The entries of a list in a catalogue file, each as a text.
std::vector<std::string> entries(const std::string &path, const char *list)
{
    std::vector<std::string> texts;
    const Json file = Json::parse(content(path));
    for (const Json &entry : file[list])
        texts.push_back(entry.dump());
    return texts;
}

} // namespace

std::vector<std::string> planSeeds(const std::string &folder)
{
    return joined(known(folder, "plan"), joined(filesOf(folder + "/samples"), filesOf(folder + "/tests/data/plans")));
}

std::vector<std::string> settingSeeds(const std::string &folder)
{
    return joined(known(folder, "settings"),
        { "parallelism.pipeline=8", "cluster.datacenters[0].pools[0].nodes=4", "wan.sharing=temporal",
            "memory.offload_fraction=0.5",
            "cluster.datacenters[0].pools[0].gpu={\"memory_gib\":80,\"memory_gbytes_per_s\":2000,\"peak_tflops\":{"
            "\"bf16\":312}}",
            "stack.release=26.02", "name=a name", "placement.stages=[{\"datacenter\":\"oregon\",\"stages\":8}]",
            "profile={\"forward_ms\":[1,2],\"backward_ms\":3}", "calibration.x=[1,{\"y\":2}]" });
}

std::vector<std::string> configSeeds(const std::string &folder)
{
    return joined(known(folder, "config"), filesOf(folder + "/tests/data/hf_configs"));
}

/// The built-in rows, two of a file: whole files would be mutated where nothing happens.
std::vector<std::string> rowSeeds(const std::string &folder)
{
    std::vector<std::string> texts = known(folder, "rows");
    for (const std::string &text : filesOf(folder + "/resources/validation")) {
        Json file = Json::parse(text);
        if (file.value("format", "") != "trainyard.validation")
            continue;
        auto &rows = file["rows"];
        while (rows.size() > 2)
            rows.erase(rows.size() - 1);
        texts.push_back(file.dump());
    }
    return texts;
}

std::vector<std::string> traceSeeds(const std::string &folder)
{
    return joined(known(folder, "trace"),
        { "time_s,prompt_tokens\n0,1\n0.5,2048\n1.25,512\n",
            "\xef\xbb\xbftime_s , prompt_tokens\r\n3,4\r\n\r\n1e-9,100000000\r\n" });
}

std::vector<std::string> gpuSeeds(const std::string &folder)
{
    return joined(known(folder, "gpu"),
        joined(entries(folder + "/resources/catalog/gpus.json", "gpus"),
            {
                R"({"memory_gib":80,"memory_gbytes_per_s":[2039,"data sheet"],"peak_tflops":{"bf16":312,"fp16":[312,"data sheet"]},"link_domain":8,"multiprocessors":108,
            "kernels":{"gemm":{"bf16":{"launch_us":5,"peak_fraction":0.8,"evidence":"measured"}},"attention":{"bf16":{"margin_keys":100}},"grouped":{"fp8":{"tile_loss":1}}}})" }));
}

std::vector<std::string> modelSeeds(const std::string &folder)
{
    return joined(known(folder, "model"), entries(folder + "/resources/catalog/models.json", "models"));
}

/// Small plans: a mutated one is to be simulated in a millisecond.
std::vector<std::string> evaluateSeeds(const std::string &folder)
{
    return joined(known(folder, "evaluate"),
        { content(folder + "/samples/mixed-lab.trainyard.json"),
            content(folder + "/samples/ssdtrain-bert-2xa100.trainyard.json"),
            R"({"format":"trainyard.plan","version":1,"name":"jobs","cluster":{"datacenters":[{"id":"lab","pools":[
            {"id":"a","gpu":"v100-sxm-16gb","nodes":1,"gpus_per_node":2,"host":{"memory_gib":90,"gbytes_per_s_per_gpu":12}},
            {"id":"b","gpu":"t4-16gb","nodes":2,"gpus_per_node":1}]}]},"workload":{},
            "jobs":[{"name":"a","model":"opt-1.3b","batch":8,"minibatches":2,"epochs":1,"arrival_s":1,"deadline_s":90},
            {"name":"b","model":"opt-125m","batch":4,"minibatches":3,"epochs":1,"unit_ms":[10,20,30],"pinned_gpus":[0,2]},
            {"name":"c","model":"gpt-3-1.3b","batch":2,"minibatches":2,"epochs":1,"precision":"fp32","optimizer":"sgd"}],
            "job_grid":{"model":["opt-350m"],"learning_rate":[0.001,0.0001]},"job_scheduler":"sharded-lrtf",
            "job_options":{"double_buffer":true,"remaining":"minibatches","seed":3}})" });
}

std::vector<std::string> readerSeeds(const std::string &folder, const char *family)
{
    return joined(filesOf(folder + "/tests/fuzz/seeds/" + family), known(folder, family));
}

} // namespace trainyard::fuzz
