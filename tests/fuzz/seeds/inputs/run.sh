#!/bin/bash
#SBATCH --nodes=4 --gres=gpu:h100:8
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-4}
WORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))
GBS=$((2 * 64))
ARGS=(
    --num-layers 48
    --hidden-size 8192 # wide
    --num-attention-heads '64'
    --seq-length "4096" --swiglu
    --moe-layer-freq "([0]*3+[1]*45)"
)
if [ "$FP8" = 1 ]; then
    ARGS+=(--fp8-format hybrid)
fi
torchrun --nproc_per_node $GPUS_PER_NODE pretrain_gpt.py "${ARGS[@]}" \
    --tensor-model-parallel-size ${TP:-4} --global-batch-size ${GBS} --lr 1e-4
