"""How `backward` multiplies a gradient by the cotangent of a scalar: by ops of the target alone."""

from __future__ import annotations

from saturate.extract import EXTRACTORS
from saturate.op import Type
from saturate.program import Program
from saturate.saturation import Limits
from saturate.search import emit, search
from saturate.split import Product, repeated
from saturate.target import Target
from saturate.targeted import targeted


def product(target: Target) -> Product:
    """The product for `split`; it raises `TargetError` where the target's ops cannot make it."""

    def made(gradient: Type, cotangent: Type) -> Program:
        program = repeated(gradient, cotangent)
        if not target.missing(program):
            return program
        found = targeted(search(program, (), Limits(rounds=0)), target)
        return emit(found, EXTRACTORS["exact"](found.classes)).program

    return made
