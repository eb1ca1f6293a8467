def plan(steps, held):
    last = {}
    for number, step in enumerate(steps):
        last[step.output] = number
        for name in step.reads:
            last[name] = number
    for name in held:
        last[name] = len(steps)
    place, free, count = {}, [], 0
    for number, step in enumerate(steps):
        done = [name for name in step.reads if name in place and last[name] == number]
        taken = next((name for name in done if name in step.over), None)
        if taken is not None:
            place[step.output] = place[taken]
        elif free:
            place[step.output] = free.pop()
        else:
            place[step.output] = count
            count += 1
        for name in done:
            if name != taken:
                free.append(place[name])
        if last[step.output] == number:
            free.append(place[step.output])
    return place
