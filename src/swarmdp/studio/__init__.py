"""The studio: a local page on which swarms are watched, rewards painted and learned.

Who gets in
    `server` serves the page on the loopback address to those who have the link; `limits` says how
    much a tab may send, `messages` what. `folder` has the only files that the page may open and
    save.
One tab
    `session` reads the messages of a tab and answers them; `scene` is what the tab looks at, with
    the system from `catalogue` and its sliders from `knobs`.
Two swarms side by side
    `live` moves a swarm step by step, `stage` has two of them, `frames` packs them for the browser.
Rewards
    `planning` finds a policy for a painted reward, `learning` runs a fit. `presets` has rewards
    with names, `meanings` says what each observation means.
What can be taken away
    `keeping` has trajectories and GIFs, `script` the Python code that repeats what was seen,
    `export` one page for others with rewards and their swarms.
The page
    `assets/`, one file of JavaScript for each thing that the page does.

Decisions:

- Only this package imports a web server.
- The socket needs a key, the page does not. The page is a fixed set of files without secrets; all
  that can be seen or done goes through the socket. Its token stands behind the '#' of the link,
  which browsers do not send, and travels as a subprotocol of the handshake: it is in no log and no
  history, and no other server of this machine gets it (cookies ignore ports). The browser is opened
  with a file that redirects to the link, since other users can read command lines.
- Every incoming message is decoded by msgspec into a struct that declares ranges and lengths, and
  nothing is done with a message that does not fit.
- The event loop only talks. Swarms, planning and fits run in threads, whose kernels release the
  interpreter lock.
- A live swarm takes the same steps as a roll-out with its seed, bit for bit, so that what is seen
  can be saved and repeated by a script.
- A tab that draws slowly misses frames, but no measures: a frame has those of all steps since the
  one before.
- Painted rewards are planned on at most 1000 agents of the same density. While a reward is being
  painted, planning continues from the policy before; at rest it starts from nothing, so that the
  policy depends on the reward alone.
"""
