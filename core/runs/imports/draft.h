#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan while it is made from a recording: what was told, by the names that Megatron gives it, what was taken from it,
// and the sentences about both. Each part of the folder takes its share: model, degrees and batch, machines, figures of
// links and drives. One thread.

#include "core/base/error.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"
#include "core/runs/imports/dialects.h"
#include "core/runs/imports/gpu_names.h"
#include "core/runs/imports/megatron_theory.h"
#include "core/runs/telemetry/recording.h"

#include <map>
#include <optional>
#include <set>

namespace trainyard::imports {

/// Arguments by Megatron's names, whoever told them: NeMo's "model.encoder_seq_length", a submission's
/// "max_sequence_length", OTLP's "dl.sequence_length" are its seq_length.
class Told {
public:
    explicit Told(const Recording &recording);
    /// Empty where nobody told it, or told None.
    [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return text(name).has_value(); }
    /// Whether a source tells it as None or null: turned off, not left out.
    [[nodiscard]] bool isNull(std::string_view name) const;
    /// Whether a switch is on; empty where nobody told.
    [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
    [[nodiscard]] bool isOn(std::string_view name) const { return flag(name).value_or(false); }
    /// What follows from other things that `source` tells, where nobody tells it.
    void derive(const DerivedArgument &argument, const std::string &source);
    [[nodiscard]] bool isDerived(std::string_view name) const;
    /// "--seq-length (run.sh)", or the name as its source has it; of what is derived from what.
    [[nodiscard]] std::string said(std::string_view name) const;
    /// The file that tells it, else those that tell arguments: "run.sh".
    [[nodiscard]] const std::string &sourceOf(std::string_view name) const;
    /// Of sources that tell otherwise than those before them, and are left out as a whole, since arguments of two jobs
    /// make no third one: their file, and both values with who told them.
    [[nodiscard]] const Settings &conflicts() const { return m_conflicts; }
    /// Scripts that only set variables, beside one that reads others: sentences, whose values complete its own.
    [[nodiscard]] const std::vector<std::string> &parts() const { return m_parts; }
    /// Of arguments whose names begin so, what stands behind it.
    [[nodiscard]] std::vector<std::string> namesBehind(std::string_view prefix) const;
    /// What sources of other trainers tell, with what no rule of theirs has.
    [[nodiscard]] const std::vector<Translation> &translations() const { return m_translations; }
    /// "nanotron", or Megatron where no source is of another: whose defaults hold.
    [[nodiscard]] std::string trainer() const;
    /// Whether these are arguments of Megatron or of what is built on it: then its defaults hold for the rest.
    [[nodiscard]] bool isMegatron() const;
    [[nodiscard]] bool isTorchtitan() const;
    [[nodiscard]] bool isDeepSpeed() const;
    /// Whether degrees of tensor and pipeline parallelism are told, also beside a recipe's name.
    [[nodiscard]] bool isDivided() const;

private:
    struct Value {
        /// as told
        std::string text, name;
        /// file
        std::string source;
        /// it is derived; empty: it is told
        std::string why = {};
        /// of the source's trainer: what another source tells counts
        bool isDefault = false;
    };
    using Values = std::map<std::string, Value, std::less<>>;
    Values valuesOf(const std::map<std::string, std::string> &arguments, const std::string &source);
    [[nodiscard]] const Value *toldBefore(std::string_view name) const;
    void add(Values values, const std::string &source);
    bool addPart(Values &values, const std::string &source);
    void addDerived(const Recording &recording);

    /// by Megatron's name
    Values m_values;
    /// "run.sh", for what nobody told
    std::string m_sources;
    Settings m_conflicts;
    std::vector<std::string> m_parts;
    /// names that are told as None, without their sections
    std::set<std::string, std::less<>> m_nulls;
    std::vector<Translation> m_translations;
    bool m_isTorchtitan = false, m_isDeepSpeed = false;
};

/// How much what is not understood may change, heaviest first.
enum class Weight : std::uint8_t {
    /// what a model is made of
    Shape,
    /// degrees, batches, precision, attention, memory: of work or memory
    Work,
    /// nothing says what it changes
    Unknown
};

struct Draft {
    Draft(const Recording &told, const Catalogue &known, const Plan &base)
        : recording(told)
        , catalogue(known)
        , plan(base)
        , arguments(told)
        , derived(derivedJob(told))
        , hasOwnPools(base.cluster.gpus() > 0)
        , hasOwnJob(!(base.workload == WorkloadSpec()) || !(base.parallelism == Parallelism()))
    {
        plan.notUnderstood.clear(); // it was of other sources
    }
    const Recording &recording;
    const Catalogue &catalogue;
    Plan plan;
    Told arguments;
    std::vector<std::string> assumed, taken, ignored, notUnderstood;
    /// no source tells one
    bool isModelAssumed = false;
    /// the sentence of `assumed` about the type of GPU
    std::string assumedGpu;
    Errors errors;
    /// that a source told
    std::optional<ModelSpec> model;
    /// MindSpeed-LLM's, which are counted among --num-layers and do nothing; in order
    std::vector<int> noopLayers;
    /// of `notUnderstood`, by its key
    std::map<std::string, Weight, std::less<>> weights;
    /// of those, the ones of doubtWidely()
    std::set<std::string, std::less<>> wide;
    /// from Megatron's estimate of memory
    std::optional<DerivedJob> derived;
    /// GPUs of the run
    std::optional<int> worldSize;
    std::optional<int> gpusPerNode;
    /// nodes by a topology
    bool isClusterTold = false;
    /// the plan that it begins with has GPUs
    bool hasOwnPools;
    /// … and a job: not the defaults alone
    bool hasOwnJob;
    /// The end of a sentence about a value that no source tells.
    [[nodiscard]] const char *stays() const { return hasOwnJob ? " stays, as in the plan" : " is assumed"; }

    /// What was taken or assumed of the key before is forgotten.
    void take(std::string_view key, std::string_view value, std::string_view argument);
    /// The plan's software, as a source told it or as `why` has it: the last who tells it counts.
    void takeStack(const std::string &name, const std::string &why);
    /// once
    void assume(std::string sentence);
    void assumeGpu(std::string sentence);
    void ignore(std::string sentence);
    /// A setting that can change work, memory or shape, and that no plan takes: why. It stays with the plan.
    void doubt(const std::string &setting, const std::string &why, Weight weight = Weight::Work);
    /// One that nothing more is known of: the iteration may take half to twice as long, once for all of them.
    void doubtWidely(const std::string &setting, const std::string &why, Weight weight);
    /// One that is known to make the iteration (1 + low) to (1 + high) times as long.
    void doubtBy(const std::string &setting, const std::string &why, double low, double high);
    /// Heaviest first, with the plan and in sentences.
    void sortDoubts();
    void bad(std::string_view argument, std::string what, std::string right);
    /// Of a whole number in that range, else an error.
    [[nodiscard]] std::optional<int> whole(std::string_view argument, std::int64_t low, std::int64_t high);
    [[nodiscard]] std::optional<double> number(std::string_view argument);
    /// The file that a thing of the recording comes from, without its folder.
    [[nodiscard]] std::string sourceOf(std::uint32_t source) const;
};

/// Megatron's name of what other tools call otherwise ("encoder_seq_length" is seq_length); else the name. told.cpp
[[nodiscard]] std::string_view megatronNameOf(std::string_view name);
/// "run.sh" of a path to it, as sentences name it. told.cpp
[[nodiscard]] std::string fileName(const std::string &file);
/// By its name in a plan's file, which has to be one.
[[nodiscard]] ScheduleKind scheduleNamed(std::string_view name);

/// model_of.cpp
void takeModel(Draft &draft);
/// megatron_plan.cpp
void takeMegatron(Draft &draft);
/// megatron_precision.cpp
void takePrecision(Draft &draft);
/// Whether a script that starts a training of a model is the one source: what it does not give is not on.
/// megatron_habits.cpp
[[nodiscard]] bool isWholeScript(const Draft &draft);
/// What the plan's software does of its own, and Megatron only where it is asked to: told either way, since no key of a
/// plan turns it off.
void tellHabits(Draft &draft);
/// megatron_plan.cpp: of iterations or samples; again where the global batch is known later
void takeTrainingTokens(Draft &draft);
/// trainer_plan.cpp: what trainers of Hugging Face's models tell by files and switches of their own, and their software
void takeTrainer(Draft &draft);
/// Of arguments that name where the optimizer's states and the parameters are: "cpu", "nvme"; "True": host.
void takeOffloadedStates(Draft &draft, const char *optimizer, const char *parameters);
/// untold.cpp: options whose values a script leaves open, and variables among them
void takeUntold(Draft &draft);
/// started_program.cpp: programs that train another kind of model than a decoder of language
void takeProgram(Draft &draft);
/// Whether an argument is one of those that a model's shape is made of.
[[nodiscard]] bool tellsShape(std::string_view name);
/// What an argument that is not understood may change, by its name.
[[nodiscard]] Weight weightOf(std::string_view name);
/// "MindSpeed-LLM" where options of it are told, else "Megatron".
[[nodiscard]] std::string megatronsName(const Draft &draft);
/// doubts.cpp: what sources tell and no plan takes, refused where the shape is in doubt
void takeDoubts(Draft &draft);
/// torchtitan_plan.cpp
void takeTorchtitan(Draft &draft);
/// Settings that torchtitan may have and that no plan takes, of files and scripts. torchtitan_settings.cpp
[[nodiscard]] Settings notUnderstoodOfTorchtitan(const Recording &recording);
/// Of a script: the rest belongs to what launches it.
[[nodiscard]] bool isTorchtitansSetting(std::string_view name);
/// deepspeed_plan.cpp
void takeDeepSpeed(Draft &draft);
/// cluster_of.cpp
void takeCluster(Draft &draft);
/// benchmarks_of.cpp
void takeBenchmarks(Draft &draft);

/// torchtitan_recipe.cpp: what takeTorchtitan() leaves to them
void takeTorchtitanRecipe(Draft &draft);
void takeTorchtitanMemory(Draft &draft);

/// The model that the name of torchtitan's recipe tells: the catalogue's, or family ("llama3") and size ("70b").
struct TitanFlavor {
    std::string id, family, size;
};
[[nodiscard]] std::optional<TitanFlavor> flavorOfRecipe(const Draft &draft);

/// Megatron's arguments as a model; empty where they do not tell its shape.
/// megatron_model.cpp
[[nodiscard]] std::optional<ModelSpec> megatronModel(Draft &draft);
/// The rows of the vocabulary: told, of the tokenizer or of the catalogue's model with the same shape, else a guess
/// that stays with the plan as a doubt. vocabulary.cpp
void takeVocabulary(Draft &draft, ModelSpec &model);
/// Which layers have experts, and which there are at all, as Megatron and MindSpeed-LLM tell it. expert_layers.cpp
void takeExpertLayers(Draft &draft, ModelSpec &model);
void takeNoopLayers(Draft &draft, ModelSpec &model);
/// The number that --num-layers tells, with those that do nothing; 0: not told.
[[nodiscard]] int layersTold(const Draft &draft);
/// Of the layers of each stage, where some do nothing; empty where none does.
[[nodiscard]] std::vector<int> layersWithoutNoops(const Draft &draft, int stages);
/// A model behind Megatron's own estimate of memory: of so many parameters, layers and vocabulary. Empty where it tells
/// none, or none fits.
/// theory_model.cpp
[[nodiscard]] std::optional<ModelSpec> theoryModel(Draft &draft);
/// The catalogue's model with the same dimensions; its vocabulary may be padded by less than `padding`. Of several (a
/// release that changed data alone) the one whose id is part of `name`, else the first.
[[nodiscard]] const ModelSpec *sameModel(
    const ModelSpec &model, const Catalogue &catalogue, int padding = 1, std::string_view name = {});

} // namespace trainyard::imports
