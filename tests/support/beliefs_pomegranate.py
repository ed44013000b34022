#!/usr/bin/python3
"""An oracle for Bayes filtering: pomegranate 0.14 (Debian's python3-pomegranate, hence Debian's own interpreter).

  beliefs_pomegranate.py < cases.jsonl > answers.jsonl      (the form of cases and answers: beliefs_fractions.py)

Its transitions do not depend on time, so time is unrolled into the states: layer 2t is q_t before step t and shows
nothing, layer 2t + 1 is q_t after the reveal of step t. A state shows the evidence with its weight (divided by the
largest of the step) and another symbol otherwise; the observed sequence is the evidence at every layer.
"""

import math
import sys

from beliefs_case import answer_lines
from pomegranate import DiscreteDistribution, HiddenMarkovModel, State

EVIDENCE, OTHER = "evidence", "other"


class Unrolled:
    def __init__(self, case):
        self.case, self.steps = case, len(case.weights)
        self.scales = [max(weights) or 1 for weights in case.weights]
        self.model = HiddenMarkovModel()
        self.layers = [self.add_layer(layer) for layer in range(2 * self.steps + 1)]
        for q, probability in enumerate(case.start):
            self.connect(self.model.start, self.layers[0][q], probability)
        for t in range(self.steps):
            before, after, following = self.layers[2 * t : 2 * t + 3]
            for q in range(case.states):
                self.connect(before[q], after[q], 1)
                for target, probability in case.columns[t][q]:
                    self.connect(after[q], following[target], probability)
        # "None": the other settings drop states that nothing leads to, and with them their columns.
        self.model.bake(merge="None")
        places = {state.name: place for place, state in enumerate(self.model.states)}
        self.places = [[places[state.name] for state in layer] for layer in self.layers]

    def add_layer(self, layer):
        states = []
        for q in range(self.case.states):
            seen = self.case.weights[layer // 2][q] / self.scales[layer // 2] if layer % 2 else 1
            shown = DiscreteDistribution({EVIDENCE: float(seen), OTHER: float(1 - seen)})
            states.append(State(shown, name=f"{layer}:{q}"))
        self.model.add_states(states)
        return states

    def connect(self, source, target, probability):
        if probability > 0:
            self.model.add_transition(source, target, float(probability))

    def log_evidence(self, layers):
        return self.model.log_probability([EVIDENCE] * layers)


def answer(case):
    unrolled = Unrolled(case)
    model, steps = unrolled.model, unrolled.steps

    survival, before = [], 0.0
    for t in range(steps):
        after = unrolled.log_evidence(2 * t + 2)
        if after == -math.inf:
            return {"impossible_at": t}
        survival.append(math.exp(after - before) * float(unrolled.scales[t]))
        before = after

    sequence = [EVIDENCE] * (2 * steps + 1)
    forward = model.forward(sequence)  # row i + 1: log of the joint probability of the first i + 1 symbols and the state
    beliefs = []
    for t in range(steps):
        log_total = unrolled.log_evidence(2 * t + 3)
        row = forward[2 * t + 3]
        beliefs.append([math.exp(row[place] - log_total) for place in unrolled.places[2 * t + 2]])
    posterior = model.predict_proba(sequence)
    smoothed = [[float(posterior[2 * t][place]) for place in unrolled.places[2 * t]] for t in range(steps + 1)]
    best_path_log = model.viterbi(sequence)[0] + sum(math.log(scale) for scale in unrolled.scales)
    return {"survival": survival, "beliefs": beliefs, "smoothed": smoothed, "best_path_log": best_path_log}


if __name__ == "__main__":
    sys.exit(answer_lines(answer))
