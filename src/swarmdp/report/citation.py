"""How to cite the paper and this software, as BibTeX."""

from swarmdp._version import __version__

PAPER = r"""@inproceedings{sosic2017inverse,
  title     = {Inverse Reinforcement Learning in Swarm Systems},
  author    = {{\v S}o{\v s}i{\'c}, Adrian and KhudaBukhsh, Wasiur R. and Zoubir, Abdelhak M.
               and Koeppl, Heinz},
  booktitle = {Proceedings of the 16th International Conference on Autonomous Agents and
               Multiagent Systems (AAMAS)},
  year      = {2017}
}"""

SOFTWARE = f"""@software{{swarmdp,
  title   = {{swarmdp: inverse reinforcement learning in swarm systems}},
  author  = {{{{The swarmdp developers}}}},
  version = {{{__version__}}},
  year    = {{2026}}
}}"""

BIBTEX = f"{PAPER}\n\n{SOFTWARE}\n"
