// SPDX-License-Identifier: GPL-3.0-or-later
// What a script makes of its own values, as bash 5 prints it, and what it leaves open: each option by its name and by
// the variable that would tell it.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

std::string argument(const Recording &recording, const std::string &name)
{
    const auto found = recording.arguments.find(name);
    return found != recording.arguments.end() ? found->second : "(not told)";
}

const std::string kShape = " --num-layers 4 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 1 ";

/// Of a script of these lines, which starts a training with `options`.
Recording script(const std::string &lines, const std::string &options = "", const std::string &launch = "torchrun ")
{
    return read("run.sh", "#!/bin/bash\n" + lines + "\n" + launch + "pretrain_gpt.py" + kShape + options + "\n");
}

const std::string kCounted = R"sh(
N=5
FIRST=2
arr=()
for ((i=0; i<N; i++)); do
  if (( i < FIRST )); then
    arr+=(0)
  else
    arr+=(1)
  fi
done
printf -v FREQ "[%s]" "$(IFS=', '; echo "${arr[*]}")"
)sh";

const std::string kWritten = R"sh(
NHIDDEN=96
cfg=./ds.json
cat <<EOT > $cfg
{ "zero_optimization": { "stage": 3, "reduce_bucket_size": $((NHIDDEN*NHIDDEN)) }, "fp16": { "enabled": "auto" } }
EOT
export CMD=" \
    `pwd`/run_clm.py --model_type gpt2 --tokenizer_name gpt2 \
    --config_overrides "n_embd=$NHIDDEN,n_head=4,n_layer=6,n_positions=512,gradient_checkpointing=true,use_cache=False" \
    --per_device_train_batch_size 2 --fp16 --deepspeed $cfg"
echo $CMD
srun bash -c 'python -m torch.distributed.launch --nproc_per_node 4 --nnodes 2 $CMD' 2>&1 | tee out.txt

#  iteration        2/    1000 | elapsed time per iteration (ms): 122204.8 | learning rate: 3.750E-05 | lm loss: 1.2E+01 |
#  iteration        3/    1000 | elapsed time per iteration (ms): 122204.8 | learning rate: 3.750E-05 | lm loss: 1.2E+01 |
)sh";

const std::string kFoundry = "max_seq_len: 2048\nmodel:\n  name: mpt_causal_lm\n  d_model: 64\n  n_layers: 2\n"
                             "train_loader:\n  name: text\nglobal_train_batch_size: 8\n";
const std::string kTune = "model:\n  _component_: torchtune.models.llama3.llama3_8b\nbatch_size: 2\n";
const std::string kNeox = "{\n  \"pipe_parallel_size\": 1, # no pipeline\n  \"model_parallel_size\": 1,\n"
                          "  \"num_layers\": 2,\n  \"hidden_size\": 64,\n  \"num_attention_heads\": 4,\n"
                          "  \"use_bias_in_mlp\": False,\n}\n";

} // namespace

class TestScriptValues : public QObject {
    Q_OBJECT

private slots:
    void aLoopThatBuildsAListIsGoneThrough()
    {
        QCOMPARE(argument(script(kCounted, "--moe-layer-freq $FREQ"), "moe_layer_freq"), std::string("[0,0,1,1,1]"));
        const std::string made = "A=$(printf '%s-%d' x 3)\nB=$(echo -n a b)\n((C = 2 * 3))\nfor ((;;)); do C=9; done";
        const Recording r = script(made, "--tokenizer-type $A --wandb-project \"$B\" --seq-length $C");
        QCOMPARE(argument(r, "tokenizer_type"), std::string("x-3"));
        QCOMPARE(argument(r, "wandb_project"), std::string("a b"));
        QCOMPARE(argument(r, "seq_length"), std::string("9")); // a loop without a condition is gone through once
    }

    /// A list that is made where the script does not tell how often is not known.
    void aListOfALoopThatIsNotFollowedIsUnknown()
    {
        const Recording r =
            script("L=(0)\nwhile read x; do L+=(1); done\nF=\"[${L[*]}]\"", "--moe-layer-freq $F --seq-length 8");
        QCOMPARE(argument(r, "moe_layer_freq"), std::string("(not told)"));
        QCOMPARE(argument(r, "untold.moe_layer_freq"), std::string("[0 $L]"));
        QCOMPARE(argument(r, "seq_length"), std::string("8"));
    }

    void whatIsLeftOpenIsNamedWithItsVariable()
    {
        const Recording r = script("S=$((TP * 2))",
            "--tensor-model-parallel-size $TP --seq-length $S --vocab-file $DATA/gpt2-vocab.json --swiglu $MORE "
            "--bf16 \"$@\"");
        QCOMPARE(argument(r, "untold.tensor_model_parallel_size"), std::string("$TP"));
        QCOMPARE(argument(r, "untold.seq_length"), std::string("$TP"));
        QCOMPARE(argument(r, "untold.vocab_file"), std::string("$DATA/gpt2-vocab.json"));
        QCOMPARE(argument(r, "swiglu"), std::string("True")); // a switch, with other options behind it
        QCOMPARE(argument(r, "bf16"), std::string("True"));
        QCOMPARE(argument(r, "script.words"), std::string("$MORE"));
        QCOMPARE(argument(r, "script.program"), std::string("pretrain_gpt.py"));
        QCOMPARE(argument(script("source lib/model.sh"), "script.sourced"), std::string("model.sh"));
        const Recording part = read("model.sh", "MODEL_ARGS=(\n --num-layers 4\n --hidden-size 64\n)\n");
        QCOMPARE(argument(part, "script.is_part"), std::string("True"));
    }

    void torchrunStartsOneNodeUnlessSomethingTellsMore()
    {
        const std::string own = "torchrun --nproc_per_node 8 ";
        QCOMPARE(argument(script("", "", own), "nnodes"), std::string("1"));
        QCOMPARE(argument(script("", "", "torchrun --nproc_per_node 8 $MORE "), "nnodes"), std::string("(not told)"));
        QCOMPARE(argument(script("", "", "srun " + own), "nnodes"), std::string("1"));
        QCOMPARE(argument(script("#SBATCH --nodes=4", "", own), "nnodes"), std::string("4"));
        const Recording open = script("", "", "torchrun --nnodes $N --nproc_per_node 8 ");
        QCOMPARE(argument(open, "nnodes"), std::string("(not told)"));
        QCOMPARE(argument(open, "untold.nnodes"), std::string("$N"));
    }

    /// A command that is printed is none, one behind bash -c is, and a log in the comments makes no log of a script.
    void aScriptThatWritesItsConfigurationIsReadWhole()
    {
        const Recording r = read("clm.slurm", "#!/bin/bash\n" + kWritten);
        QCOMPARE(r.sources[0].refused, std::string());
        QVERIFY(!hasNote(r, "trainings"));
        QCOMPARE(argument(r, "nnodes"), std::string("2"));
        QCOMPARE(argument(r, "ds_config.zero_optimization.stage"), std::string("3"));
        QCOMPARE(argument(r, "ds_config.zero_optimization.reduce_bucket_size"), std::string("9216"));
        QCOMPARE(argument(r, "hf_trainer.gradient_checkpointing"), std::string("True"));
        QCOMPARE(argument(r, "hf_trainer.block_size"), std::string("512"));
        QCOMPARE(r.models.size(), std::size_t(1));
        QVERIFY(r.models[0].config.find("\"n_layer\": 6") != std::string::npos
            && r.models[0].config.find("\"n_embd\": 96") != std::string::npos
            && r.models[0].config.find("\"vocab_size\": 50257") != std::string::npos);
    }

    void theFirstMegatronsBatchIsOfAGpu()
    {
        const Recording r = read("run.sh",
            "#!/bin/bash\npython pretrain_gpt2.py --model-parallel-size 4 --num-layers 8 --hidden-size 64 "
            "--num-attention-heads 4 --seq-length 64 --batch-size 48\n");
        QCOMPARE(argument(r, "micro_batch_size"), std::string("48"));
        QCOMPARE(argument(r, "gradient_accumulation_steps"), std::string("1"));
    }

    void otherToolsAreNamed()
    {
        QVERIFY(read("mpt.yaml", kFoundry).sources[0].refused.find("llm-foundry") != std::string::npos);
        QVERIFY(read("tune.yaml", kTune).sources[0].refused.find("torchtune") != std::string::npos);
        const Recording verl =
            read("rl.sh", "#!/bin/bash\npython3 -m main_ppo actor_rollout_ref.actor.ppo_mini_batch_size=8\n");
        QVERIFY2(verl.sources[0].refused.find("verl") != std::string::npos, verl.sources[0].refused.c_str());
        QCOMPARE(argument(read("7B.yml", kNeox), "neox.num_layers"), std::string("2"));
    }
};

TRAINYARD_APPLESS_TEST(TestScriptValues)
#include "tst_script_values.moc"
