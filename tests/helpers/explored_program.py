"""A house through a winter's day: the program that the explorer's pages are tested on.

Walls of several layers conduct heat, a window lets the sun in, people give off heat, a thermostat
steers a boiler; the loss compares the room's temperature with measurements and adds the price of
gas. Parameters are a wall's insulation, the boiler's gain, the set point and the leakage of air.
"""

import math

import numpy as np
from explored_parts import interpolate, softplus

STEFAN_BOLTZMANN = 5.67e-8
KELVIN = 273.15
HOUR = 3600.0
AIR_DENSITY = 1.2
AIR_HEAT = 1005.0
GAS_PRICE = 0.08


class Layer:
    """A layer of a wall: how well it conducts, and how much heat it holds."""

    def __init__(self, name, thickness, conductivity, density, heat):
        self.name = name
        self.thickness = thickness
        self.conductivity = conductivity
        self.density = density
        self.heat = heat

    def resistance(self):
        return self.thickness / self.conductivity

    def capacity(self):
        return self.thickness * self.density * self.heat


class Wall:
    """Layers from the inside to the outside, with a temperature each."""

    def __init__(self, area, layers, start):
        self.area = area
        self.layers = layers
        self.temperatures = [start for _ in layers]

    def resistance_between(self, k):
        """Half of each of two neighbouring layers."""
        inner = self.layers[k]
        outer = self.layers[k + 1]
        return 0.5 * (inner.resistance() + outer.resistance())

    def flows(self, inside, outside):
        """The heat that passes each boundary, per area, from the inside out."""
        first = 0.5 * self.layers[0].resistance() + 0.13
        last = 0.5 * self.layers[-1].resistance() + 0.04
        flows = [(inside - self.temperatures[0]) / first]
        for k in range(len(self.layers) - 1):
            drop = self.temperatures[k] - self.temperatures[k + 1]
            flows.append(drop / self.resistance_between(k))
        flows.append((self.temperatures[-1] - outside) / last)
        return flows

    def step(self, inside, outside, seconds):
        """Go on by a step; gives the heat that the room lost to the wall."""
        flows = self.flows(inside, outside)
        for k in range(len(self.layers)):
            gained = flows[k] - flows[k + 1]
            capacity = self.layers[k].capacity()
            self.temperatures[k] = self.temperatures[k] + seconds * gained / capacity
        return self.area * flows[0]


class Window:
    """Glass: conducts without holding heat, and lets a share of the sun in."""

    def __init__(self, area, transmittance, share):
        self.area = area
        self.transmittance = transmittance
        self.share = share

    def loss(self, inside, outside):
        conducted = self.transmittance * (inside - outside)
        radiated = 0.1 * STEFAN_BOLTZMANN * ((inside + KELVIN) ** 4 - (outside + KELVIN) ** 4)
        return self.area * (conducted + radiated)

    def gain(self, sunshine):
        return self.area * self.share * sunshine


class Weather:
    """Temperatures by the hour, and the sun of a clear day."""

    def __init__(self, hours, temperatures, noon, strength):
        self.hours = hours
        self.temperatures = temperatures
        self.noon = noon
        self.strength = strength

    def temperature(self, hour):
        return interpolate(self.hours, self.temperatures, hour)

    def sunshine(self, hour):
        height = math.cos(math.pi * (hour - self.noon) / 10.0)
        if height <= 0.0 or abs(hour - self.noon) > 5.0:
            return 0.0
        air_mass = 1.0 / (height + 0.05)
        return self.strength * height * math.exp(-0.15 * air_mass)


class Thermostat:
    """A proportional and integral controller with a set point that is lower at night."""

    def __init__(self, gain, integral_gain, set_point, night_drop):
        self.gain = gain
        self.integral_gain = integral_gain
        self.set_point = set_point
        self.night_drop = night_drop
        self.integral = 0.0

    def wanted(self, hour):
        if hour < 6.0 or hour > 22.0:
            return self.set_point - self.night_drop
        return self.set_point

    def demand(self, temperature, hour, seconds):
        error = self.wanted(hour) - temperature
        self.integral = 0.98 * self.integral + error * seconds / HOUR
        signal = self.gain * error + self.integral_gain * self.integral
        return softplus(signal)


class Boiler:
    """Turns gas into heat; less well the harder it works."""

    def __init__(self, power, efficiency):
        self.power = power
        self.efficiency = efficiency
        self.burnt = 0.0

    def heat(self, demand, seconds):
        load = demand / (1.0 + demand)
        efficiency = self.efficiency * (1.0 - 0.12 * load**2)
        heat = self.power * load
        self.burnt = self.burnt + heat / efficiency * seconds
        return heat

    def cost(self):
        return GAS_PRICE * self.burnt / 3.6e6


class Radiator:
    """Water that the boiler heats; it warms the room as some power of the difference."""

    def __init__(self, size, water, temperature):
        self.size = size
        self.water = water
        self.temperature = temperature

    def given(self, inside):
        excess = softplus(self.temperature - inside, 2.0)
        return self.size * excess**1.3

    def step(self, heat, inside, seconds):
        """An implicit step, by Newton's method: the water may not swing."""
        before = self.temperature
        new = before
        for _ in range(4):
            excess = softplus(new - inside, 2.0)
            given = self.size * excess**1.3
            slope = 1.3 * self.size * (excess + 1e-6) ** 0.3
            residual = self.water * (new - before) / seconds - heat + given
            new = new - residual / (self.water / seconds + slope)
        self.temperature = new
        return self.size * softplus(new - inside, 2.0) ** 1.3


class Room:
    """The air of a room, and all that warms and cools it."""

    def __init__(self, volume, leakage, walls, window, radiator, start):
        self.volume = volume
        self.leakage = leakage
        self.walls = walls
        self.window = window
        self.radiator = radiator
        self.temperature = start

    def capacity(self):
        furniture = 4.0
        return self.volume * AIR_DENSITY * AIR_HEAT * furniture

    def ventilation(self, outside, wind):
        """Air that leaks: more of it in the wind, and where the difference is large."""
        stack = math.sqrt(abs(self.temperature - outside) + 0.01)
        changes = self.leakage * (0.2 + 0.05 * wind + 0.02 * stack)
        flow = changes * self.volume / HOUR
        return flow * AIR_DENSITY * AIR_HEAT * (self.temperature - outside)

    def losses(self, outside, wind, seconds):
        total = self.ventilation(outside, wind)
        total += self.window.loss(self.temperature, outside)
        for wall in self.walls:
            total += wall.step(self.temperature, outside, seconds)
        return total

    def step(self, heat, outside, wind, sunshine, people, seconds):
        warmth = self.radiator.step(heat, self.temperature, seconds)
        gains = warmth + self.window.gain(sunshine) + 80.0 * people
        losses = self.losses(outside, wind, seconds)
        change = (gains - losses) * seconds / self.capacity()
        self.temperature = self.temperature + change
        return self.temperature


class Day:
    """A day of the room, step by step, with what was there at each."""

    def __init__(self, room, thermostat, boiler, weather):
        self.room = room
        self.thermostat = thermostat
        self.boiler = boiler
        self.weather = weather
        self.history = []

    def people(self, hour):
        if 8.0 < hour < 17.0:
            return 0.0
        return 3.0

    def run(self, steps, wind):
        seconds = 24.0 * HOUR / steps
        for step in range(steps):
            hour = step * seconds / HOUR
            outside = self.weather.temperature(hour)
            sunshine = self.weather.sunshine(hour)
            demand = self.thermostat.demand(self.room.temperature, hour, seconds)
            heat = self.boiler.heat(demand, seconds)
            now = self.room.step(
                heat,
                outside,
                wind[step],
                sunshine,
                self.people(hour),
                seconds,
            )
            self.history.append(now)
        return self.history


def outer_wall(insulation):
    plaster = Layer("plaster", 0.015, 0.7, 1400.0, 1000.0)
    brick = Layer("brick", 0.24, 0.5, 1200.0, 900.0)
    wool = Layer("wool", insulation, 0.035, 60.0, 1030.0)
    return Wall(28.0, [plaster, brick, wool], 15.0)


def inner_wall():
    plaster = Layer("plaster", 0.01, 0.7, 1400.0, 1000.0)
    block = Layer("block", 0.12, 0.3, 800.0, 900.0)
    return Wall(35.0, [plaster, block], 18.0)


def house(insulation, leakage):
    window = Window(6.0, 1.1, 0.5)
    radiator = Radiator(18.0, 60000.0, 35.0)
    walls = [outer_wall(insulation), inner_wall()]
    return Room(75.0, leakage, walls, window, radiator, 18.0)


def weather():
    hours = [0.0, 6.0, 12.0, 18.0, 24.0]
    temperatures = [-4.0, -6.0, 1.0, -1.0, -5.0]
    return Weather(hours, temperatures, 12.5, 450.0)


def smoothness(history):
    """How much the temperature jumps from step to step."""
    total = 0.0
    for k in range(1, len(history)):
        total += (history[k] - history[k - 1]) ** 2
    return total / len(history)


def discomfort(history, measured):
    error = np.array(history) - measured
    weights = 1.0 / (1.0 + 0.1 * np.abs(error))
    return np.mean(weights * error**2)


def loss(parameters, measured, wind):
    """What a winter's day costs: discomfort, jumps and gas."""
    insulation, gain, set_point, leakage = parameters
    room = house(insulation, leakage)
    thermostat = Thermostat(gain, 0.1, set_point, 3.0)
    boiler = Boiler(9000.0, 0.95)
    day = Day(room, thermostat, boiler, weather())
    history = day.run(len(measured), wind)
    comfort = discomfort(history, measured)
    price = boiler.cost()
    penalty = 0.01 / insulation + 50.0 * insulation**2
    return comfort + 0.5 * smoothness(history) + price + penalty


PARAMETERS = [0.12, 0.8, 20.5, 1.5]
MEASURED = np.linspace(18.0, 21.0, 288)
WIND = np.abs(np.sin(np.arange(288.0)))
