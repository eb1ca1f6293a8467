"""Random numbers recorded from MXNet 1.9.1 on the CPU.

``mx.random.seed(3)``, then the calls in the order below with ``shape=(130,)`` (``(26,)`` for the samples),
printed by ``float(v).hex()`` at the positions ``AT``.
"""

from __future__ import annotations

AT = [0, 1, 43, 44, 88, 129]  # 130 numbers are made by 3 engines, 44 at most each

CONSECUTIVE = [
    ("_random_gamma", {"alpha": 2.5, "beta": 0.3}, """0x1.4c1156p-3 0x1.0527bcp-2 0x1.8e7464p-1
        0x1.777934p-1 0x1.04894ep+1 0x1.848dfcp-1"""),
    ("_random_gamma", {"alpha": 0.3, "beta": 2.0}, """0x1.1ee342p-2 0x1.15f1b6p-9 0x1.aaf17ap-1
        0x1.1f6ba8p-9 0x1.091e82p-3 0x1.0c45ep-2"""),
    ("_random_gamma", {"alpha": 0.3, "dtype": "float64"}, """0x1.3b9223206e5f8p-2
        0x1.6979a1c3c3515p-3 0x1.0a3bc35270d21p-10
        0x1.bcc2b919e9584p-1 0x1.6bdb6f99a8084p-2 0x1.e697c10aabea9p-8"""),
    ("_random_gamma", {"alpha": 9.7, "dtype": "float64"}, """0x1.8d3b0d2228aabp+2
        0x1.6ac1598694cf2p+3 0x1.bfecf6aed7521p+2
        0x1.5dc2b55ba96aep+2 0x1.8ee9578f1896fp+3 0x1.73b6ce3146576p+3"""),
    ("_random_poisson", {"lam": 0.3}, "0 0 0 1 0 0"),
    ("_random_poisson", {"lam": 11.9, "dtype": "float64"}, "10 18 12 17 6 9"),
    ("_random_poisson", {"lam": 40.3}, "29 46 33 43 46 42"),
    ("_random_poisson", {"lam": 1000000.0}, "1001286 999484 997869 999486 999182 999191"),
    ("_random_negative_binomial", {"k": 3, "p": 0.3}, "7 17 1 6 13 1"),
    ("_random_negative_binomial", {"k": 40, "p": 0.05, "dtype": "float64"}, "707 654 539 838 836 1177"),
    ("_random_generalized_negative_binomial", {"mu": 2.0, "alpha": 0.3}, "5 1 1 0 1 8"),
    ("_random_generalized_negative_binomial", {"mu": 20.0, "alpha": 3.0, "dtype": "float64"}, "4 0 13 39 33 21"),
    ("_random_generalized_negative_binomial", {"mu": 5.0, "alpha": 0.0}, "6 4 4 7 6 6"),
]

A, B = [1, 2.5, 0.3, 9.7, 14], [1, 2, 0.5, 1.5, 3]
K, P = [1, 2, 3, 7, 4], [0.5, 0.3, 0.9, 0.1, 1]
PARAMETERS = {
    "uniform": ([-b for b in B], A), "normal": (A, B), "gamma": (A, B), "exponential": (A,),
    "poisson": (A,), "negative_binomial": (K, P), "generalized_negative_binomial": (A, P),
}
# (type of the parameters, dtype, distribution): drawn for every triple in this order, with shape (26,)
SAMPLED = {
    ("float32", "float32", "uniform"): """0x1.5d65ep-3 -0x1.40e408p-3 0x1.fca89p-2
        0x1.649584p+0 0x1.b6a9e8p+1 0x1.5fc916p+3""",
    ("float32", "float32", "gamma"): """0x1.43b8ecp+0 0x1.8e7876p-2 0x1.f5578cp+0
        0x1.de72d4p+1 0x1.43e664p+4 0x1.da4a38p+5""",
    ("float32", "float32", "negative_binomial"): """0 0 12 3 22 0""",
    ("float32", "float64", "uniform"): """-0x1.e64ce1a081745p-1 -0x1.1a8e06c5d1c14p-1
        0x1.3fa27bd870428p+1
        -0x1.82423e76bad5bp+0 0x1.07d8dbe5b71dep+3 0x1.f47cb16c53fa4p+1""",
    ("float32", "float64", "normal"): """0x1.335bfe13ddab8p-3 -0x1.29deed84c1f48p-2
        0x1.ad6a4d8189703p+0
        -0x1.1eb0aa2b8a85p-2 0x1.37e58e9bb70d7p+3 0x1.8f797fd21289ep+3""",
    ("float32", "float64", "gamma"): """0x1.2ac62290ea11fp-4 0x1.e0cafc5a2088dp-1
        0x1.55f2aa5ca0fc4p+0
        0x1.cd3718184f68fp+1 0x1.f2d9dc2d40b0ap+3 0x1.9e465a5c4a9cep+5""",
    ("float32", "float64", "exponential"): """0x1.efd0abe595a1p-1 0x1.de818482f4008p-2
        0x1.7781174250506p-4
        0x1.224d9614f7a7dp-5 0x1.389e9872b91cdp-4 0x1.0d6bcce0b123bp-6""",
    ("float32", "float64", "poisson"): """0 0 1 2 7 8""",
    ("float32", "float64", "negative_binomial"): """0 3 6 4 103 0""",
    ("float32", "float64", "generalized_negative_binomial"): """0 0 2 8 12 1""",
    ("float64", "float32", "uniform"): """0x1.16d0b4p-1 0x1.b1df8p-3 0x1.9a270ap+0
        -0x1.204d2ep+0 -0x1.4cdb4ap+0 0x1.57a9ep+3""",
    ("float64", "float32", "normal"): """0x1.fe137cp-2 0x1.76bf7cp-1 0x1.6e8eb8p+2
        0x1.0c4744p+1 0x1.59f7ccp+3 0x1.f34a74p+3""",
    ("float64", "float32", "gamma"): """0x1.1233ecp+1 0x1.3a747cp+0 0x1.2b6f2cp+0
        0x1.1635d4p+1 0x1.6d552p+4 0x1.5e1f1p+5""",
    ("float64", "float32", "exponential"): """0x1.5c6234p+1 0x1.821046p-1 0x1.6a3afap-7
        0x1.00bdfap-1 0x1.55467cp-6 0x1.09450ap-4""",
    ("float64", "float32", "poisson"): """0 2 0 0 10 18""",
    ("float64", "float32", "negative_binomial"): """0 1 5 5 29 0""",
    ("float64", "float32", "generalized_negative_binomial"): """0 0 4 0 10 2""",
    ("float64", "float64", "uniform"): """-0x1.cd10cc10ba7bdp-1 0x1.2ebb2c81a1b22p-1
        0x1.905a40d185d4p-3
        -0x1.0f890503c4ab3p+0 0x1.a66bede7a942ep+2 0x1.9c90791822f2ap+3""",
    ("float64", "float64", "gamma"): """0x1.b6c50bc255054p-3 0x1.faa33b2bc1621p+1
        0x1.ba20823b18ff5p+2
        0x1.2397d441ef05fp+3 0x1.0d6958aa77d9bp+3 0x1.88eb42d938fdbp+4""",
    ("float64", "float64", "negative_binomial"): """2 1 7 1 39 0""",
}
